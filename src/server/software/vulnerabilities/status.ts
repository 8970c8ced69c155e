// How far the import of vulnerability data and the comparison with software are.
import type { VulnerabilityStatus } from "../../../api/software/vulnerabilities.ts";
import type { Context } from "../../platform/core/context.ts";
import { countedAt } from "../software/vulnerabilities/state.ts";

export async function vulnerabilityStatus({ store, settings }: Context): Promise<VulnerabilityStatus> {
  const feeds = await store.vulnerabilityFeeds.list({ order: [{ column: "name", direction: "asc" }] });
  const matching = await store.vulnerabilityMatching.first({});
  return {
    is_configured: (settings.vulnerability_data_url ?? "") !== "",
    feeds: feeds.map(({ name, state, error, records, bytes_read, bytes_total, checked_at, imported_at }) => ({
      name,
      state,
      error: error === "" ? null : error,
      records,
      bytes_read,
      bytes_total,
      checked_at,
      imported_at,
    })),
    matching: matching && {
      done: matching.done,
      total: matching.total,
      started_at: matching.started_at,
      finished_at: matching.finished_at,
    },
    vulnerabilities_count: await store.vulnerabilities.count(),
    counts_updated_at: await countedAt(store),
  };
}
