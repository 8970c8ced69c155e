import type { HostDetailsRow } from "../../../hosts/hosts/details.ts";
import { detailRowOf } from "../../../hosts/hosts/inventory/details.ts";
import type { AgentRow } from "../../../platform/agent-protocol/rows.ts";
import type { ServerTx } from "../../../platform/core/tables.ts";
import type { ConfigCache } from "../config/cache.ts";
import type { PlannedWrite } from "./planned-write.ts";

/** Plans the rows of host details that differ from the stored ones. */
export async function planDetails(
  store: ServerTx,
  configs: ConfigCache,
  planned: readonly PlannedWrite[],
): Promise<HostDetailsRow[]> {
  const reporting = planned.filter(({ item, values }) => values !== null || item.results.additional.size > 0);
  if (reporting.length === 0) return [];
  const old = new Map(
    (await store.hostDetails.getMany(reporting.map(({ row }) => row.id))).map((row) => [row.id, row]),
  );
  const changed: HostDetailsRow[] = [];
  for (const { item, row, values } of reporting) {
    const additional = await configuredOnly(configs, row.team_id, item.results.additional);
    const existing = old.get(row.id);
    const after = detailRowOf(row.id, existing, {
      ...values?.details,
      ...(Object.keys(additional).length === 0 ? {} : { additional: { ...existing?.additional, ...additional } }),
    });
    if (after) changed.push(after);
  }
  return changed;
}

/** Keeps only configured additional queries: agents may send names that were never requested. */
async function configuredOnly(
  configs: ConfigCache,
  teamId: number | null,
  reported: ReadonlyMap<string, readonly AgentRow[]>,
) {
  if (reported.size === 0) return {};
  const additionalQueries = (await configs.get(teamId)).features.additional_queries ?? {};
  return Object.fromEntries([...reported].filter(([name]) => Object.hasOwn(additionalQueries, name)));
}
