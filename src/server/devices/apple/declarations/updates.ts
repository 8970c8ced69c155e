// Deadlines of system updates: declared to each device as its team's settings have them.
import type { AppleUpdates } from "../../../../api/settings/os-settings.ts";
import { lockOperations } from "../../../hosts/operations/queue.ts";
import { days, isoAt, minutes } from "../../../platform/core/clock.ts";
import { settingsFollower } from "../../../platform/core/concurrency/settings-follower.ts";
import { type Context, type Services, serviceContext, within } from "../../../platform/core/context.ts";
import type { Job } from "../../../platform/core/job.ts";
import { byId } from "../../../platform/core/maps.ts";
import type { ServerTx } from "../../../platform/core/tables.ts";
import { and, eq, exists, not, oneOf, or, type Predicate } from "../../../platform/store/query.ts";
import type { RowOf } from "../../../platform/store/table.ts";
import {
  LATEST,
  latestFor,
  type UpdatedDevice,
  type UpdatePlatform,
  type VersionList,
  versionList,
} from "../../../settings/apple-versions/offered.ts";
import { hostsBySetting, mdmOfTeams } from "../../../settings/teams/mdm.ts";
import type { AppleDeviceListener } from "../channel/listeners.ts";
import { applePlatform } from "../profiles/platform.ts";
import { notifyDevices } from "./command.ts";
import { appleUpdates } from "./tables.ts";

const platforms = {
  darwin: { setting: "macos_updates", since: 14 },
  ios: { setting: "ios_updates", since: 17 },
  ipados: { setting: "ipados_updates", since: 17 },
} as const satisfies Record<UpdatePlatform, object>;
const platformNames = Object.keys(platforms) as UpdatePlatform[];
const hasUpdates = (platform: string): platform is UpdatePlatform => Object.hasOwn(platforms, platform);

type Update = Omit<RowOf<typeof appleUpdates>, "revision">;
type Target = Pick<Update, "version" | "deadline" | "basis">;

/** What a setting means for all hosts that have it; null: there is no deadline. */
type Deadline = { readonly version: string; readonly deadline: string } | { readonly days: number } | null;

function deadlineIn({ minimum_version: version, deadline, deadline_days }: AppleUpdates): Deadline {
  if (version === LATEST) return deadline_days === null ? null : { days: deadline_days };
  return version === "" || deadline === "" ? null : { version, deadline };
}

/** What the newest version was determined by: the setting and the list. */
const basisOf = (within: number, list: VersionList | null): string => `${within} ${list?.checksum ?? ""}`;

/** A version without a date is not declared. */
const notKnown = { version: "", deadline: "" };

function newestTarget(within: number, list: VersionList | null, device: UpdatedDevice, today: string): Target {
  const release = list && latestFor(list, device, today);
  const due = release && { version: release.version, deadline: daysAfter(release.posted, within) };
  return { ...(due ?? notKnown), basis: basisOf(within, list) };
}

const daysAfter = (day: string, count: number): string => isoAt(Date.parse(day) + days(count)).slice(0, 10);

/** Hosts in one transaction. */
const BATCH_SIZE = 500;
/** Serializes the comparison, so that no server writes what another has just replaced. */
const COMPARING = { lock: "apple-updates" } as const;

/** Declares what has changed to the devices concerned. Returns how many were found. */
async function declareUpdates(services: Services, signal?: AbortSignal): Promise<number> {
  const ctx = serviceContext(services, "apple updates");
  let count = 0;
  for (const lagging of await laggingHosts(ctx))
    for await (const page of ctx.store.hosts.pages({ where: lagging }, BATCH_SIZE, ["id"])) {
      if (signal?.aborted) return count;
      count += page.length;
      await ctx.store.tx(async (store) => {
        const inside = within(ctx, store);
        const { rows, ended } = await differencesOf(
          inside,
          page.map(({ id }) => id),
        );
        const different = [...rows.map(({ id }) => id), ...ended];
        await lockOperations(store, different);
        // The hosts may have changed before they were locked.
        if (different.length > 0) await declareTo(inside, different);
      }, COMPARING);
    }
  return count;
}

/** For each deadline: the hosts that are to have it and may not know. The same deadline of several teams is one. */
async function laggingHosts(ctx: Context): Promise<Predicate[]> {
  const settings = await mdmOfTeams(ctx);
  const list = await versionList(ctx.store);
  return platformNames.flatMap((platform) =>
    hostsBySetting(settings, (mdm) => deadlineIn(mdm[platforms[platform].setting])).map(({ value, hosts }) =>
      and(eq("platform", platform), applePlatform.hosts, hosts, mayLag(value, list)),
    ),
  );
}

/** Hosts whose system was too old are looked at again: it may have been updated. */
function mayLag(deadline: Deadline, list: VersionList | null): Predicate {
  if (deadline === null) return exists(appleUpdates, "id");
  const isCurrent =
    "days" in deadline
      ? eq("basis", basisOf(deadline.days, list))
      : and(eq("version", deadline.version), eq("deadline", deadline.deadline), eq("basis", ""));
  return not(exists(appleUpdates, "id", and(isCurrent, eq("is_declared", true))));
}

interface Differences {
  readonly rows: readonly Update[];
  readonly ended: readonly number[];
  /** Hosts whose devices have to be notified. */
  readonly changed: readonly number[];
}

/** Compares these hosts with their settings, in the caller's transaction, under the locks of their operations. */
export async function declareTo(inside: Context, hostIds: readonly number[]): Promise<void> {
  const { store } = inside;
  const { rows, ended, changed } = await differencesOf(inside, hostIds);
  if (rows.length > 0) await store.appleUpdates.upsert(rows, { on: ["id"], returning: [] });
  if (ended.length > 0) await store.appleUpdates.delete(oneOf("id", ended));
  if (changed.length === 0) return;
  await store.appleUpdateReports.update({
    where: and(oneOf("id", changed), or(eq("is_accepted", true), not(eq("refusal", "")))),
    set: { is_accepted: false, refusal: "" },
  });
  await notifyDevices(inside, changed);
}

async function differencesOf(inside: Context, hostIds: readonly number[]): Promise<Differences> {
  const { store } = inside;
  const [hosts, settings, rowsBefore] = await Promise.all([
    store.hosts.pick(["id", "team_id", "platform", "os_version", "hardware_model"], {
      where: and(oneOf("id", hostIds), applePlatform.hosts),
    }),
    mdmOfTeams({ ...inside, config: inside.config.over(store) }),
    store.appleUpdates.list({ where: oneOf("id", hostIds) }),
  ]);
  const rowsById = byId(rowsBefore);
  const deadlineOf = (host: (typeof hosts)[number]): Deadline =>
    hasUpdates(host.platform) ? deadlineIn(settings.get(host.team_id)![platforms[host.platform].setting]) : null;
  const newest = hosts.filter((host) => "days" in (deadlineOf(host) ?? {})).map(({ id }) => id);
  const reports = byId(
    newest.length === 0 ? [] : await store.appleUpdateReports.pick(["id", "device"], { where: oneOf("id", newest) }),
  );
  const list = newest.length === 0 ? null : await versionList(store);
  const today = inside.clock.iso().slice(0, 10);
  const rows: Update[] = [];
  const ended: number[] = [];
  const changed: number[] = [];
  for (const host of hosts) {
    const { id, platform, os_version, hardware_model } = host;
    if (!hasUpdates(platform)) continue;
    const { since } = platforms[platform];
    const deadline = deadlineOf(host);
    // Macs look for updates by their board, which only they know.
    const device = reports.get(id)?.device || (platform === "darwin" ? "" : hardware_model);
    const target =
      deadline === null
        ? null
        : "days" in deadline
          ? newestTarget(deadline.days, list, { platform, device }, today)
          : { ...deadline, basis: "" };
    const before = rowsById.get(id) ?? null;
    const after = target && { id, ...target, is_declared: majorOf(os_version) >= since };
    if (after === null ? before === null : before !== null && isSame(before, after)) continue;
    if (after === null) ended.push(id);
    else rows.push(after);
    const isDifferent = before === null || after === null || !isSameDeadline(before, after);
    if (isDifferent && (before?.is_declared || after?.is_declared)) changed.push(id);
  }
  return { rows, ended, changed };
}

/** What devices get to know. */
const isSameDeadline = (update: Update, other: Update): boolean =>
  update.version === other.version && update.deadline === other.deadline && update.is_declared === other.is_declared;
const isSame = (update: Update, other: Update): boolean =>
  isSameDeadline(update, other) && update.basis === other.basis;

/** The major version in names such as `macOS 15.1`; 0 if it is not known. */
const majorOf = (osVersion: string): number => Number(/\d+/.exec(osVersion)?.[0] ?? 0);

interface UpdateConfiguration {
  readonly identifier: string;
  readonly type: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

export const UPDATE_DEADLINE = "svc.update";
const UPDATE_REPORTS = "svc.update.reports";
const reportedItems = ["device-id", "install-state", "pending-version", "failure-reason"].map(
  (name) => `softwareupdate.${name}`,
);

/** What the device gets: what it has to report, and its deadline if there is one. Empty: updates are not managed. */
export async function updateConfigurations(store: ServerTx, hostId: number): Promise<UpdateConfiguration[]> {
  const row = await store.appleUpdates.get(hostId);
  if (!row?.is_declared) return [];
  const reports: UpdateConfiguration = {
    identifier: UPDATE_REPORTS,
    type: "com.apple.configuration.management.status-subscriptions",
    payload: { StatusItems: reportedItems.map((Name) => ({ Name })) },
  };
  if (row.version === "") return [reports];
  return [
    reports,
    {
      identifier: UPDATE_DEADLINE,
      type: "com.apple.configuration.softwareupdate.enforcement.specific",
      // The device's own time.
      payload: { TargetOSVersion: row.version, TargetLocalDateTime: `${row.deadline}T12:00:00` },
    },
  ];
}

export const appleUpdateListener: AppleDeviceListener = {
  enrolled: (inside, { host_id }) => declareTo(inside, [host_id]),
  async reset({ store }, { host_id }) {
    await store.appleUpdates.delete(eq("id", host_id));
    await store.appleUpdateReports.delete(eq("id", host_id));
  },
};

/** Compares soon after settings have changed, and when hosts change teams. */
export const appleUpdateDeadlines = settingsFollower(
  "update deadlines of Apple devices",
  { failure: "cannot declare update deadlines; trying again" },
  (services) => declareUpdates(services),
);

/** Finds devices whose system has become new enough, and whatever was missed. */
export const appleUpdatesJob: Job = {
  name: "apple_updates",
  every: minutes(10),
  async run(services, signal) {
    await declareUpdates(services, signal);
  },
};
