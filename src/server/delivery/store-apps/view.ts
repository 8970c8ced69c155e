// How replies show the store apps of a team.
import { fieldNames, pick } from "../../../api/plain-fields.ts";
import { type StoreApp, storeAppFields } from "../../../api/software/store-app.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { eq, oneOf } from "../../platform/store/query.ts";
import { orNull, policiesOf } from "../../software/installers/wire.ts";
import { hostsWithApp } from "./android.ts";
import { labelListsOf } from "./labels.ts";
import type { StoreAppRow } from "./tables.ts";

const plainNames = fieldNames(storeAppFields);

/** In the order of the rows. */
export async function appsOnWire(store: ServerTx, rows: readonly StoreAppRow[]): Promise<StoreApp[]> {
  const ids = rows.map(({ id }) => id);
  const [labels, listings, counts, policies] = await Promise.all([
    labelListsOf(store, ids),
    store.storeListings.list({
      where: oneOf(
        "adam_id",
        rows.map(({ adam_id }) => adam_id),
      ),
    }),
    Promise.all(rows.map((row) => countsOf(store, row))),
    policiesOf(store, rows),
  ]);
  const listingOf = new Map(listings.map((listing) => [`${listing.adam_id} ${listing.platform}`, listing]));
  return rows.map((row, i) => {
    const listing = listingOf.get(`${row.adam_id} ${row.platform}`);
    return {
      app_store_id: row.adam_id,
      platform: row.platform,
      name: listing?.name ?? row.adam_id,
      ...pick(row, plainNames),
      icon_url: listing?.icon_url ?? null,
      latest_version: listing?.version ?? "",
      categories: [...row.categories],
      created_at: row.created_at,
      status: counts[i]!,
      install_during_setup: row.install_during_setup,
      automatic_install_policies: orNull(policies.get(row.id) ?? []),
      ...(row.configuration === "" ? {} : { configuration: row.configuration }),
      auto_update_window_start: row.auto_update_window_start,
      auto_update_window_end: row.auto_update_window_end,
      ...labels.get(row.id),
    };
  });
}

/** The hosts of the app by the state of their latest installation. */
async function countsOf(store: ServerTx, app: StoreAppRow): Promise<StoreApp["status"]> {
  // Devices report which of these apps they have.
  if (app.platform === "android") return { installed: await hostsWithApp(store, app), pending: 0, failed: 0 };
  const { id: appId } = app;
  const rows = await store.storeAppInstalls.pick(["host_id", "status"], {
    where: eq("store_app_id", appId),
    order: [{ column: "id", direction: "asc" }],
  });
  const latest = new Map(rows.map(({ host_id, status }) => [host_id, status]));
  const counts = { installed: 0, pending: 0, failed: 0 };
  for (const status of latest.values()) counts[status]++;
  return counts;
}
