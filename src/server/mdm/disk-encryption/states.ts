// The state of hosts whose agent encrypts: what the setting demands of them before they have escrowed a key. That of
// Macs follows their profile (mdm/apple/filevault/).
import { mustEncrypt } from "../../app-config/sections/mdm-rules.ts";
import { channels } from "../../core/channels.ts";
import { minutes } from "../../core/clock.ts";
import { settingsFollower } from "../../core/concurrency/settings-follower.ts";
import { type Context, type Services, serviceContext } from "../../core/context.ts";
import type { Job } from "../../core/job.ts";
import { setDiskStates } from "../../disk-encryption/states.ts";
import { type DiskEncryptionStatus, hostDiskEncryption } from "../../disk-encryption/tables.ts";
import { onPlatform } from "../../hosts/status.ts";
import { hostMdm } from "../../mdm-status/tables.ts";
import { and, eq, exists, isNull, not, oneOf, or, type Predicate } from "../../store/query.ts";
import { mdmOfTeams, type SharedMdm } from "../../teams/mdm.ts";

/** Hosts in one transaction. */
const STEP = 500;

const stateIs = (...states: DiskEncryptionStatus[]): Predicate =>
  exists(hostDiskEncryption, "id", oneOf("status", states));
const hasState = exists(hostDiskEncryption, "id", not(isNull("status")));

const hasPin = exists(hostDiskEncryption, "id", eq("has_pin", true));
const PIN_MISSING = "The user has to set a BitLocker PIN.";

/** Servers are left alone: whoever runs them decides on their disks. */
const managedWindows = and(
  eq("platform", "windows"),
  exists(hostMdm, "id", and(eq("connected_to_svc", true), eq("is_server", false))),
);
const encryptedLinux = and(onPlatform("linux"), eq("disk_encryption_enabled", true));

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
  let changed = await setState(ctx, and(onWindows, managedWindows, not(hasState)), "enforcing", signal);
  changed += await setState(ctx, and(onLinux, encryptedLinux, not(hasState)), "action_required", signal);
  const isConfirmed = and(eq("platform", "windows"), stateIs("verifying"), eq("disk_encryption_enabled", true));
  changed += await setState(ctx, isConfirmed, "verified", signal);
  // A host is asked for a PIN only after it has escrowed a key; with a PIN, it is verified again.
  const lacksPin = and(
    teams((mdm) => mdm.windows_require_bitlocker_pin),
    managedWindows,
    not(hasPin),
  );
  changed += await setState(ctx, and(lacksPin, stateIs("verified")), "action_required", signal, PIN_MISSING);
  const asksForPin = and(eq("status", "action_required"), not(isNull("key_updated_at")));
  const hasEnough = and(eq("platform", "windows"), exists(hostDiskEncryption, "id", asksForPin), not(lacksPin));
  changed += await setState(ctx, hasEnough, "verified", signal);
  // A key that was escrowed stays readable, and an error visible.
  const waiting = stateIs("enforcing", "action_required");
  const isAsked = or(
    and(eq("platform", "windows"), onWindows, managedWindows),
    and(onPlatform("linux"), onLinux, encryptedLinux),
  );
  const byAgent = or(eq("platform", "windows"), onPlatform("linux"));
  changed += await setState(ctx, and(byAgent, waiting, not(isAsked)), null, signal);
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
      const rows = await tx.hosts.pick(["id"], { where, limit: STEP });
      await setDiskStates(
        tx,
        rows.map(({ id }) => ({ id, status, detail })),
      );
      return rows.length;
    }, SETTLING);
    total += done;
    if (done < STEP) return total;
  }
}

/** Serializes the comparison. */
const SETTLING = { lock: "disk-encryption" };

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
