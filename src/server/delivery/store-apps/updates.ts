// Updates of store apps on iPhones and iPads, at times of day that teams choose.

import { isOlder } from "../../../text/versions.ts";
import { appleEnrollments } from "../../devices/apple/channel/tables.ts";
import { isReachable } from "../../devices/apple/push/devices.ts";
import { scopePredicate } from "../../hosts/labels/scope.ts";
import { scopeOf } from "../../hosts/labels/targeting.ts";
import { operationLock } from "../../hosts/operations/queue.ts";
import { days, isoAt, minutes } from "../../platform/core/clock.ts";
import { type Services, serviceContext, within } from "../../platform/core/context.ts";
import type { Job } from "../../platform/core/job.ts";
import { inTeam } from "../../platform/core/security/access.ts";
import { and, eq, exists, gt, has, not, or } from "../../platform/store/query.ts";
import { hostSoftware } from "../../software/software/tables.ts";
import { refusalOf, requestStoreApp } from "./installs.ts";
import { labelsOfApps } from "./labels.ts";
import { listingOf } from "./licensed.ts";
import { type StoreAppRow, storeAppInstalls } from "./tables.ts";

/** A host on which an update has failed, or which reports its old version for a while, is not asked again at once. */
const NOT_AGAIN_FOR = days(1);

export const storeAppUpdates: Job = {
  name: "store_app_updates",
  every: minutes(5),
  async run(services, signal) {
    for (const app of await services.store.storeApps.list({ where: eq("auto_update_enabled", true) })) {
      if (signal.aborted) return;
      await updateOnHosts(services, app, signal);
    }
  },
};

async function updateOnHosts(services: Services, app: StoreAppRow, signal: AbortSignal): Promise<void> {
  const { store, clock } = services;
  const latest = (await listingOf(store, app))?.version ?? "";
  const versions = await store.software.pick(["id", "version"], { where: eq("title_id", app.title_id) });
  const older = versions.filter(({ version }) => latest !== "" && isOlder(version, latest)).map(({ id }) => id);
  if (older.length === 0) return;
  const isRecent = and(
    eq("title_id", app.title_id),
    or(eq("status", "pending"), gt("created_at", isoAt(clock.now() - NOT_AGAIN_FOR))),
  );
  const scope = scopeOf((await labelsOfApps(store, [app.id])).get(app.id) ?? []);
  const where = and(
    eq("platform", app.platform),
    inTeam(app.team_id ?? 0),
    scopePredicate(scope),
    exists(hostSoftware, "id", has("software_ids", ...older)),
    exists(appleEnrollments, "host_id", isReachable),
    not(exists(storeAppInstalls, "host_id", isRecent)),
  );
  for await (const hosts of store.hosts.pages({ where }))
    for (const { id, timezone } of hosts) {
      if (signal.aborted) return;
      if (isInWindow(app, localTime(clock.now(), timezone))) await updateOnHost(services, app, id);
    }
}

/** What has changed since is not asked for. */
const updateOnHost = (services: Services, app: StoreAppRow, hostId: number): Promise<void> =>
  services.store.tx(async (store) => {
    const inside = within(serviceContext(services), store);
    const host = await store.hosts.get(hostId);
    const now = await store.storeApps.get(app.id);
    if (host && now && (await refusalOf(store, host, now)) === null) await requestStoreApp(inside, host, now);
  }, operationLock(hostId));

/** HH:MM where the host is; in UTC if its time zone is not known. */
export function localTime(now: number, timezone: string | null): string {
  const format = (timeZone: string) =>
    new Intl.DateTimeFormat("en-GB", { timeZone, hour: "2-digit", minute: "2-digit", hourCycle: "h23" }).format(now);
  try {
    return format(timezone || "UTC");
  } catch {
    // Not the name of a time zone.
    return format("UTC");
  }
}

type Window = Pick<StoreAppRow, "auto_update_window_start" | "auto_update_window_end">;

/** The window may end on the next day. */
export function isInWindow({ auto_update_window_start: from, auto_update_window_end: until }: Window, time: string) {
  if (from === null || until === null) return false;
  return from <= until ? from <= time && time < until : time >= from || time < until;
}
