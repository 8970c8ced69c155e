// The state of hosts whose agent encrypts: what the setting demands of them before they have escrowed a key. That of
// Macs follows their profile (devices/apple/filevault/).

import { dropEscrowRequests } from "../../hosts/disk-encryption/requests.ts";
import { setDiskStates } from "../../hosts/disk-encryption/states.ts";
import { type DiskEncryptionStatus, hostDiskEncryption } from "../../hosts/disk-encryption/tables.ts";
import { onPlatform } from "../../hosts/hosts/status.ts";
import { hostMdm } from "../../hosts/mdm-status/tables.ts";
import { channels } from "../../platform/core/channels.ts";
import { hours, isoAt, minutes } from "../../platform/core/clock.ts";
import { settingsFollower } from "../../platform/core/concurrency/settings-follower.ts";
import { type Context, type Services, serviceContext } from "../../platform/core/context.ts";
import type { Job } from "../../platform/core/job.ts";
import { and, eq, exists, isNull, lt, not, oneOf, or, type Predicate } from "../../platform/store/query.ts";
import { mustEncrypt } from "../../settings/app-config/sections/mdm-rules.ts";
import { mdmOfTeams, type SharedMdm } from "../../settings/teams/mdm.ts";

/** Hosts in one transaction. */
const BATCH_SIZE = 500;

const stateIs = (...states: DiskEncryptionStatus[]): Predicate =>
  exists(hostDiskEncryption, "id", oneOf("status", states));
const hasState = exists(hostDiskEncryption, "id", not(isNull("status")));

const hasKey = exists(hostDiskEncryption, "id", not(isNull("key_updated_at")));
const keyIsOlderThan = (time: string): Predicate => exists(hostDiskEncryption, "id", lt("key_updated_at", time));
const isOn = eq("disk_encryption_enabled", true);
const isOff = eq("disk_encryption_enabled", false);
const isEncrypting = exists(hostDiskEncryption, "id", eq("is_encrypting", true));
const hasNoError = exists(hostDiskEncryption, "id", eq("client_error", ""));
/** How long a report may be older than the key: after that, a disk without protection needs its agent again. */
const CONFIRMED_WITHIN = hours(1);

const hasPin = exists(hostDiskEncryption, "id", eq("has_pin", true));
const PIN_MISSING = "The user has to set a BitLocker PIN.";

/** Servers are left alone: whoever runs them decides on their disks. */
const managedWindows = and(
  eq("platform", "windows"),
  exists(hostMdm, "id", and(eq("connected_to_svc", true), eq("is_server", false))),
);
const encryptedLinux = and(onPlatform("linux"), isOn);

interface StateRule {
  readonly where: Predicate;
  readonly status: DiskEncryptionStatus | null;
  readonly detail?: string;
}

/**
 * Applied in this order. `isRequired`: hosts that have to be encrypted. A key that was escrowed stays when protection ends,
 * or is not demanded any more.
 */
function* windowsRules({ isRequired, needsPin, now }: { isRequired: Predicate; needsPin: Predicate; now: number }) {
  const onWindows = (...where: Predicate[]): Predicate => and(eq("platform", "windows"), ...where);
  const rule = (status: DiskEncryptionStatus | null, ...where: Predicate[]): StateRule => ({
    where: onWindows(...where),
    status,
  });
  yield rule("enforcing", isRequired, not(hasState));
  yield rule("verified", hasKey, isOn, or(stateIs("verifying", "enforcing", "failed"), not(hasState)));
  // Protection was suspended, or the disk decrypted: the agent turns it on again.
  const unprotected = and(isRequired, hasKey, isOff);
  yield rule("verifying", unprotected, isEncrypting, stateIs("verified", "action_required", "enforcing"));
  const late = and(stateIs("verifying"), keyIsOlderThan(isoAt(now - CONFIRMED_WITHIN)));
  yield rule("enforcing", unprotected, not(isEncrypting), hasNoError, or(stateIs("verified", "action_required"), late));
  // A host is asked for a PIN only after it has escrowed a key; with a PIN, it is verified again.
  const lacksPin = and(needsPin, managedWindows, not(hasPin));
  yield { ...rule("action_required", lacksPin, stateIs("verified")), detail: PIN_MISSING };
  yield rule("verified", hasKey, stateIs("action_required"), not(isOff), not(lacksPin));
  // An error stays visible.
  yield rule(
    null,
    not(isRequired),
    or(stateIs("enforcing", "action_required"), and(hasKey, isOff, stateIs("verified", "verifying"))),
  );
}

function* linuxRules(isRequired: Predicate): Generator<StateRule> {
  const onLinux = onPlatform("linux");
  yield { where: and(onLinux, hasKey, isOn, not(hasState)), status: "verified" };
  yield { where: and(isRequired, not(hasState)), status: "action_required" };
  yield { where: and(onLinux, not(isRequired), stateIs("enforcing", "action_required")), status: null };
  yield { where: and(onLinux, hasKey, isOff, stateIs("verified")), status: null };
}

/** Gives hosts the state that their team's setting asks for. Returns how many were changed. */
export async function settleDiskEncryption(services: Services, signal?: AbortSignal): Promise<number> {
  const ctx = serviceContext(services, "disk encryption");
  const settings = await mdmOfTeams(ctx);
  const teams = (isWanted: (mdm: SharedMdm) => boolean): Predicate => {
    const ids = [...settings].flatMap(([id, mdm]) => (isWanted(mdm) ? [id] : []));
    const none = ids.includes(null) ? [isNull("team_id")] : [];
    return or(
      oneOf(
        "team_id",
        ids.flatMap((id) => id ?? []),
      ),
      ...none,
    );
  };
  const onWindows = teams((mdm) => mustEncrypt(mdm, "windows"));
  const onLinux = teams((mdm) => mustEncrypt(mdm, "linux"));
  const needsPin = teams((mdm) => mdm.windows_require_bitlocker_pin);
  const rules = [
    ...windowsRules({ isRequired: and(onWindows, managedWindows), needsPin, now: ctx.clock.now() }),
    ...linuxRules(and(onLinux, encryptedLinux)),
  ];
  await ctx.store.tx((store) => dropEscrowRequests(store, not(onLinux)));
  let changed = 0;
  for (const { where, status, detail } of rules) changed += await setState(ctx, where, status, signal, detail);
  return changed;
}

async function setState(
  { store }: Context,
  where: Predicate,
  status: DiskEncryptionStatus | null,
  signal?: AbortSignal,
  detail = "",
): Promise<number> {
  for (let total = 0; ; ) {
    if (signal?.aborted) return total;
    const done = await store.tx(async (tx) => {
      const rows = await tx.hosts.pick(["id"], { where, limit: BATCH_SIZE });
      await setDiskStates(
        tx,
        rows.map(({ id }) => ({ id, status, detail })),
      );
      return rows.length;
    }, SETTLING);
    total += done;
    if (done < BATCH_SIZE) return total;
  }
}

/** Serializes the comparison. */
const SETTLING = { lock: "disk-encryption" } as const;

/** Compares soon after settings have changed, and when hosts change teams. */
export const diskEncryptionStates = settingsFollower(
  "states of disk encryption",
  { failure: "cannot compare disk encryption; trying again", also: [channels.diskKeys] },
  (services) => settleDiskEncryption(services),
);

/** Finds hosts that have enrolled or were encrypted since. */
export const diskEncryptionJob: Job = {
  name: "disk_encryption",
  every: minutes(10),
  async run(services, signal) {
    await settleDiskEncryption(services, signal);
  },
};
