// Macs get a recovery lock, or lose it, as the settings of their teams say.

import { hosts } from "../../../hosts/hosts/tables.ts";
import { operationLock } from "../../../hosts/operations/queue.ts";
import { channels } from "../../../platform/core/channels.ts";
import { minutes } from "../../../platform/core/clock.ts";
import { settingsFollower } from "../../../platform/core/concurrency/settings-follower.ts";
import { type Context, type Services, serviceContext, within } from "../../../platform/core/context.ts";
import type { Job } from "../../../platform/core/job.ts";
import { and, eq, exists, isNull, not, oneOf, or, type Predicate } from "../../../platform/store/query.ts";
import { mdmOfTeams } from "../../../settings/teams/mdm.ts";
import { addLocks, changeLock, dropLock, toSet } from "../../host-passwords/rows.ts";
import { recoveryLocks } from "../../host-passwords/tables.ts";
import { appleEnrollments } from "../channel/tables.ts";
import { isReachable } from "../push/devices.ts";
import { isToSend, sendSteps } from "./recovery-lock.ts";

/** Hosts in one transaction. */
const BATCH_SIZE = 500;
/** Serializes the first commands, so that no two servers send them to the same device. */
const ADDING = { lock: "recovery-locks" } as const;

/** Compares all Macs with the settings of their teams. Returns how many devices are asked something. */
async function keepRecoveryLocks(services: Services, signal?: AbortSignal): Promise<number> {
  const ctx = serviceContext(services, "recovery locks");
  const lockable = await lockableHosts(ctx);
  return (await addMissing(ctx, lockable, signal)) + (await settleOthers(ctx, lockable, signal));
}

const intel = oneOf("cpu_type", ["x86_64", "x86_64h"]);

/** Macs that are to have a recovery lock. Those that belong to their users take no such command. */
async function lockableHosts(ctx: Context): Promise<Predicate> {
  const settings = await mdmOfTeams(ctx);
  const isOn = (id: number | null) => settings.get(id)!.enable_recovery_lock_password;
  const teams = [...settings.keys()].flatMap((id) => (id !== null && isOn(id) ? [id] : []));
  const inTeams = or(oneOf("team_id", teams), ...(isOn(null) ? [isNull("team_id")] : []));
  const isManaged = exists(appleEnrollments, "host_id", and(isReachable, not(eq("kind", "personal"))));
  return and(inTeams, eq("platform", "darwin"), not(intel), isManaged);
}

async function addMissing(ctx: Context, lockable: Predicate, signal?: AbortSignal): Promise<number> {
  const lacking = and(lockable, not(exists(recoveryLocks, "id")));
  for (let added = 0; ; ) {
    if (signal?.aborted || (await ctx.store.hosts.first({ where: lacking })) === null) return added;
    added += await ctx.store.tx(async (store) => {
      const ids = (await store.hosts.pick(["id"], { where: lacking, limit: BATCH_SIZE })).map(({ id }) => id);
      await addLocks(store, ids);
      await sendSteps(within(ctx, store), ids);
      return ids.length;
    }, ADDING);
  }
}

/** Rows with nothing to do that are not as the settings say, and those whose next command was not sent yet. */
async function settleOthers(ctx: Context, lockable: Predicate, signal?: AbortSignal): Promise<number> {
  const isWanted = exists(hosts, "id", lockable, "id");
  const isWrong = and(
    isNull("step"),
    or(and(isWanted, eq("removing", true)), and(not(isWanted), eq("removing", false))),
  );
  const where = or(isWrong, isToSend);
  let settled = 0;
  for await (const rows of ctx.store.recoveryLocks.pages({ where }, BATCH_SIZE, ["id"]))
    for (const { id } of rows) {
      if (signal?.aborted) return settled;
      settled++;
      await ctx.store.tx(async (store) => {
        const row = await store.recoveryLocks.first({ where: and(eq("id", id), where) });
        if (!row) return;
        const isUnwanted = (await store.recoveryLocks.first({ where: and(eq("id", id), not(isWanted)) })) !== null;
        // The device never had one.
        if (isUnwanted && row.password === null) return void (await dropLock(store, id));
        if (row.removing !== isUnwanted) await changeLock(store, id, { ...toSet, removing: isUnwanted });
        await sendSteps(within(ctx, store), [id]);
      }, operationLock(id));
    }
  return settled;
}

/** Compares soon after settings have changed, devices have enrolled, or hosts have changed teams. */
export const recoveryLockKeeper = settingsFollower(
  "recovery locks",
  { failure: "cannot set recovery locks; trying again", also: [channels.recoveryLocks] },
  (services) => keepRecoveryLocks(services),
);

/** Finds whatever was missed. */
export const recoveryLocksJob: Job = {
  name: "recovery_locks",
  every: minutes(10),
  async run(services, signal) {
    await keepRecoveryLocks(services, signal);
  },
};
