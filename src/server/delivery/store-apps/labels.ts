// The labels that limit to which hosts a store app is offered.

import { type ResolvedLabel, shownTargets, targetLists } from "../../hosts/labels/targeting.ts";
import { groupBy } from "../../platform/core/maps.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { eq, oneOf } from "../../platform/store/query.ts";

/** In the caller's transaction. */
export async function writeLabels(store: ServerTx, appId: number, labels: readonly ResolvedLabel[]): Promise<void> {
  await store.storeAppLabels.delete(eq("store_app_id", appId));
  await store.storeAppLabels.insertMany(labels.map((label) => ({ store_app_id: appId, ...label })));
}

/** By the id of the app. */
export async function labelsOfApps(
  store: ServerTx,
  appIds: readonly number[],
): Promise<ReadonlyMap<number, ResolvedLabel[]>> {
  const rows = await store.storeAppLabels.list({ where: oneOf("store_app_id", appIds) });
  return groupBy(rows, ({ store_app_id }) => store_app_id);
}

/** Labels in the form of replies and activities, by the id of the app. */
export async function labelListsOf(store: ServerTx, appIds: readonly number[]) {
  const labels = await labelsOfApps(store, appIds);
  const show = await shownTargets(store, [...labels.values()].flat());
  return new Map([...labels].map(([id, targets]) => [id, targetLists(targets, show)]));
}
