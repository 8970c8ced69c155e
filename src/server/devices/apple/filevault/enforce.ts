// Keeps up the profile of each team whose setting turns disk encryption on, and asks Macs for keys that are missing.

import { deviceCa } from "../../../certificates/device-ca/ca.ts";
import { FILEVAULT_IDENTIFIER, keysAreAsked, settleMacs } from "../../../hosts/disk-encryption/macs.ts";
import { type DiskEncryptionStatus, hostDiskEncryption } from "../../../hosts/disk-encryption/tables.ts";
import { channels } from "../../../platform/core/channels.ts";
import { hours, isoAt, minutes } from "../../../platform/core/clock.ts";
import { startTriggeredTask } from "../../../platform/core/concurrency/triggered-task.ts";
import { type Context, type Services, serviceContext, within } from "../../../platform/core/context.ts";
import type { Job } from "../../../platform/core/job.ts";
import { startedPart } from "../../../platform/core/running.ts";
import { and, eq, exists, isNull, lt, not, oneOf, or } from "../../../platform/store/query.ts";
import { mustEncrypt } from "../../../settings/app-config/sections/mdm-rules.ts";
import { mdmOfTeams } from "../../../settings/teams/mdm.ts";
import { keepOwnProfiles, ownProfiles, PROFILE_LOCK_OPTIONS } from "../../profiles/service.ts";
import { sendAppleCommands } from "../commands/send.ts";
import { applePlatform } from "../profiles/platform.ts";
import { securityInfo } from "./key.ts";
import { filevaultUpload } from "./profile.ts";

/** Hosts in one transaction. */
const BATCH_SIZE = 500;
/** How long a Mac without a key is left alone before it is asked again. */
const ASK_EVERY = hours(1);

export async function enforceFilevault(services: Services, signal?: AbortSignal): Promise<void> {
  const ctx = serviceContext(services, "disk encryption");
  await keepProfiles(ctx);
  await settleLeft(ctx, signal);
  await askForKeys(ctx, signal);
}

async function keepProfiles(ctx: Context): Promise<void> {
  const encryptedTeams = async ({ store, config }: Context): Promise<ReadonlySet<number | null>> => {
    const settings = await mdmOfTeams({ store, config: config.over(store) });
    return new Set([...settings].flatMap(([id, mdm]) => (mustEncrypt(mdm, "macos") ? [id] : [])));
  };
  // Without anything to do, no lock and no CA are needed.
  const profile = { identifier: FILEVAULT_IDENTIFIER, hostPlatform: "darwin" };
  const [before, teams] = [
    await ctx.store.configurationProfiles.list({ where: ownProfiles(profile) }),
    await encryptedTeams(ctx),
  ];
  if (before.length === 0 && (teams.size === 0 || !(await applePlatform.isOn(ctx)))) return;
  const upload = filevaultUpload((await deviceCa(ctx)).certificate);
  await ctx.store.tx(async (store) => {
    const inside = within(ctx, store);
    const teams = new Map([...(await encryptedTeams(inside))].map((team) => [team, upload]));
    await keepOwnProfiles(inside, profile, teams);
  }, PROFILE_LOCK_OPTIONS);
}

const isMac = eq("platform", "darwin");

const unfinished: readonly DiskEncryptionStatus[] = [
  "enforcing",
  "action_required",
  "verifying",
  "removing_enforcement",
];

/** Macs that are not managed any more have lost the profile with their enrollment. Keys that were verified stay readable. */
async function settleLeft({ store }: Context, signal?: AbortSignal): Promise<void> {
  const where = and(isMac, not(applePlatform.hosts), exists(hostDiskEncryption, "id", oneOf("status", unfinished)));
  for await (const page of store.hosts.pages({ where }, BATCH_SIZE, ["id"])) {
    if (signal?.aborted) return;
    await store.tx((tx) =>
      settleMacs(
        tx,
        page.map(({ id }) => id),
      ),
    );
  }
}

async function askForKeys(ctx: Context, signal?: AbortSignal): Promise<void> {
  const now = ctx.clock.now();
  const isDue = or(isNull("key_asked_at"), lt("key_asked_at", isoAt(now - ASK_EVERY)));
  const missing = and(eq("status", "action_required"), isDue);
  const where = and(isMac, applePlatform.hosts, exists(hostDiskEncryption, "id", missing));
  for (;;) {
    if (signal?.aborted) return;
    const count = await ctx.store.tx(
      async (store) => {
        const ids = (await store.hosts.pick(["id"], { where, limit: BATCH_SIZE })).map(({ id }) => id);
        if (ids.length === 0) return 0;
        await keysAreAsked(store, ids, isoAt(now));
        await sendAppleCommands(
          within(ctx, store),
          securityInfo,
          ids.map((hostId) => ({ hostId, command: { RequestType: "SecurityInfo" } })),
        );
        return ids.length;
      },
      { lock: "disk-keys" },
    );
    if (count < BATCH_SIZE) return;
  }
}

export const filevaultKeeper = startedPart("FileVault", async (services) => {
  const { store } = services;
  const task = await startTriggeredTask(
    services,
    { channel: channels.teams, least: 100, more: 400, failure: "cannot keep FileVault as teams want it; trying again" },
    () => enforceFilevault(services),
  );
  const stops = [
    await store.listen(channels.config, task.plan, task.plan),
    await store.listen(channels.diskKeys, task.plan, task.plan),
  ];
  return {
    run: task.run,
    async stop() {
      for (const stop of stops) await stop();
      await task.stop();
    },
  };
});

export const filevaultJob: Job = {
  name: "filevault",
  every: minutes(10),
  run: enforceFilevault,
};
