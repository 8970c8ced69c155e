// Deadlines of Windows updates: sent to each device as its team's settings have them.
import type { MdmSettings } from "../../../../api/app-config.ts";
import { minutes } from "../../../core/clock.ts";
import { settingsFollower } from "../../../core/concurrency/settings-follower.ts";
import { type Context, type Services, serviceContext, within } from "../../../core/context.ts";
import type { Job } from "../../../core/job.ts";
import { byId } from "../../../core/maps.ts";
import { lockOperations } from "../../../operations/queue.ts";
import { and, eq, exists, isNull, not, oneOf, type Predicate } from "../../../store/query.ts";
import type { RowOf } from "../../../store/table.ts";
import { hostsBySetting, mdmOfTeams } from "../../../teams/mdm.ts";
import { isEnrolled } from "../channel/devices.ts";
import type { WindowsDeviceListener } from "../channel/listeners.ts";
import { windowsEnrollments } from "../channel/tables.ts";
import { sendWindowsCommands } from "../commands/send.ts";
import { commandOf, type Deadlines, windowsDeadlines } from "./commands.ts";
import { windowsUpdates } from "./tables.ts";

/** Hosts in one transaction. */
const STEP = 500;
/** Serializes the comparison, so that two servers do not send the same. */
const COMPARING = { lock: "windows-updates" };

const deadlinesIn = ({ deadline_days, grace_period_days }: MdmSettings["windows_updates"]): Deadlines =>
  deadline_days === null || grace_period_days === null ? null : { deadline_days, grace_period_days };

/** Sends what has changed to the devices concerned. Returns how many were found. */
export async function sendDeadlines(services: Services, signal?: AbortSignal): Promise<number> {
  const ctx = serviceContext(services, "windows updates");
  if (!(await ctx.config.current()).mdm.windows_enabled_and_configured) return 0;
  let found = 0;
  for (const lagging of await laggingHosts(ctx))
    for await (const page of ctx.store.hosts.pages({ where: lagging }, STEP, ["id"])) {
      if (signal?.aborted) return found;
      found += page.length;
      const ids = page.map(({ id }) => id);
      await ctx.store.tx(async (store) => {
        await lockOperations(store, ids);
        await sendTo(within(ctx, store), ids);
      }, COMPARING);
    }
  return found;
}

const managed = and(eq("platform", "windows"), exists(windowsEnrollments, "host_id", isEnrolled));

/** For each pair of deadlines: the hosts that are to have it and were not sent it. The same of several teams is one. */
async function laggingHosts(ctx: Context): Promise<Predicate[]> {
  return hostsBySetting(await mdmOfTeams(ctx), (mdm) => deadlinesIn(mdm.windows_updates)).map(({ value, hosts }) =>
    and(managed, hosts, isLagging(value)),
  );
}

const wasSent = not(isNull("command_uuid"));

const isLagging = (wanted: Deadlines): Predicate =>
  wanted === null
    ? exists(windowsUpdates, "id", not(and(isNull("deadline_days"), wasSent)))
    : not(
        exists(
          windowsUpdates,
          "id",
          and(eq("deadline_days", wanted.deadline_days), eq("grace_period_days", wanted.grace_period_days), wasSent),
        ),
      );

/** Compares these hosts with their settings, in the caller's transaction, under the locks of their operations. */
async function sendTo(inside: Context, hostIds: readonly number[]): Promise<void> {
  const { store } = inside;
  const hosts = await store.hosts.pick(["id", "team_id"], { where: and(oneOf("id", hostIds), managed) });
  const settings = await mdmOfTeams({ ...inside, config: inside.config.over(store) });
  const known = byId(await store.windowsUpdates.list({ where: oneOf("id", hostIds) }));
  const different = hosts.flatMap(({ id, team_id }) => {
    const wanted = deadlinesIn(settings.get(team_id)!.windows_updates);
    return isSent(known.get(id) ?? null, wanted) ? [] : [{ id, wanted }];
  });
  if (different.length === 0) return;
  const uuids = await sendWindowsCommands(
    inside,
    windowsDeadlines,
    different.map(({ id, wanted }) => ({ hostId: id, command: commandOf(wanted) })),
  );
  await store.windowsUpdates.upsert(
    different.map(({ id, wanted }, i) => ({
      id,
      deadline_days: wanted?.deadline_days ?? null,
      grace_period_days: wanted?.grace_period_days ?? null,
      command_uuid: uuids[i]!,
    })),
    { on: ["id"], returning: [] },
  );
}

function isSent(row: RowOf<typeof windowsUpdates> | null, wanted: Deadlines): boolean {
  if (row === null) return wanted === null;
  const isSame =
    row.deadline_days === (wanted?.deadline_days ?? null) &&
    row.grace_period_days === (wanted?.grace_period_days ?? null);
  return isSame && row.command_uuid !== null;
}

export const windowsUpdateListener: WindowsDeviceListener = {
  enrolled: (inside, { host_id }) => sendTo(inside, [host_id]),
  // Windows itself drops what the server has set when the enrollment ends.
  reset: async ({ store }, { host_id }) => void (await store.windowsUpdates.delete(eq("id", host_id))),
};

/** Compares soon after settings have changed, and when hosts change teams. */
export const windowsUpdateDeadlines = settingsFollower(
  "update deadlines of Windows devices",
  { failure: "cannot send update deadlines; trying again" },
  (services) => sendDeadlines(services),
);

/** Finds whatever was missed, and commands that were dropped. */
export const windowsUpdatesJob: Job = {
  name: "windows_updates",
  every: minutes(10),
  async run(services, signal) {
    await sendDeadlines(services, signal);
  },
};
