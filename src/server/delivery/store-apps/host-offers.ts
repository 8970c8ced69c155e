// Store apps in the view of a host's software.
import { storePlatforms } from "../../../api/software/store-app.ts";
import { deviceOfHost } from "../../devices/apple/channel/devices.ts";
import { inScope, labelsOfHost } from "../../hosts/labels/scope.ts";
import { scopeOf } from "../../hosts/labels/targeting.ts";
import { inTeam } from "../../platform/core/security/access.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq, oneOf } from "../../platform/store/query.ts";
import { withTitle } from "../../software/software/host-conditions.ts";
import type { HostOffer, HostOffers, OfferedHost } from "../../software/software/host-offers.ts";
import { installStatuses } from "./installs.ts";
import { labelsOfApps } from "./labels.ts";
import type { InstallRow, ListingRow, StoreAppRow } from "./tables.ts";

/** The apps that a device has. Its user installs them from the managed Play store, so no command does. */
async function reportedBy(store: ServerTx, hostId: number, apps: readonly StoreAppRow[]): Promise<ReadonlySet<number>> {
  const areReported = await Promise.all(
    apps.map(async (app) => (await store.hosts.count(and(eq("id", hostId), withTitle(app.title_id)))) > 0),
  );
  return new Set(apps.filter((_, i) => areReported[i]).map(({ id }) => id));
}

/** The apps of the host's team for its platform. */
export const appsForHost: HostOffers = async (store, host) => {
  const apps = await store.storeApps.list({
    where: and(inTeam(host.team_id ?? 0), oneOf("platform", platformsOf(host))),
  });
  if (apps.length === 0) return [];
  const reported = host.platform === "android" ? await reportedBy(store, host.id, apps) : null;
  const [installs, listings, available] = await Promise.all([
    store.storeAppInstalls.list({
      where: eq("host_id", host.id),
      order: [{ column: "id", direction: "asc" }],
    }),
    store.storeListings.list({
      where: oneOf(
        "adam_id",
        apps.map(({ adam_id }) => adam_id),
      ),
    }),
    availableTo(store, host, apps),
  ]);
  return apps.map((app): HostOffer => {
    const last = installs.findLast(({ title_id }) => title_id === app.title_id);
    const listing = listings.find(({ adam_id, platform }) => adam_id === app.adam_id && platform === app.platform);
    return {
      title_id: app.title_id,
      isAvailable: available.has(app.id),
      isSelfService: app.self_service,
      shown: {
        status: reported ? (reported.has(app.id) ? "installed" : null) : last ? installStatuses[last.status] : null,
        display_name: app.display_name,
        icon_url: listing?.icon_url ?? null,
        app_store_app: onHost(app, listing, last),
      },
    };
  });
};

const platformsOf = ({ platform }: OfferedHost): StoreAppRow["platform"][] =>
  storePlatforms.filter((storePlatform) => storePlatform === platform);

async function availableTo(
  store: ServerTx,
  host: OfferedHost,
  apps: readonly StoreAppRow[],
): Promise<ReadonlySet<number>> {
  const device = await deviceOfHost(store, host.id);
  if (!device || device.kind === "personal") return new Set();
  const ids = apps.map(({ id }) => id);
  const [labels, memberOf] = await Promise.all([labelsOfApps(store, ids), labelsOfHost(store, host.id)]);
  return new Set(
    ids.filter((id) => {
      const scope = scopeOf(labels.get(id) ?? []);
      return (scope.exclude_any.length === 0 || host.label_updated_at !== null) && inScope(memberOf, scope);
    }),
  );
}

const onHost = (app: StoreAppRow, listing: ListingRow | undefined, last: InstallRow | undefined) => ({
  app_store_id: app.adam_id,
  platform: app.platform,
  version: listing?.version ?? "",
  self_service: app.self_service,
  categories: app.categories.length === 0 ? null : [...app.categories],
  last_install: last ? { command_uuid: last.command_uuid, installed_at: last.ended_at ?? last.created_at } : null,
});
