import type { QueryLabels } from "../../../../checks/queries/rules.ts";
import { QUERIES_LOCK } from "../../../../checks/queries/service.ts";
import { everything, isNull, oneOf } from "../../../../platform/store/query.ts";
import type { Kind } from "../../kind.ts";
import { BATCH_SIZE, inPages, mayWriteConfig, ofTier } from "../../shared-rows.ts";
import { type DesiredQuery, type QueryRows, queryThings, readQuery } from "./value.ts";
import { writeQueries } from "./write.ts";

export const query: Kind<QueryRows, DesiredQuery> = {
  name: "query",
  owners: ["global", "team"],
  per: "many",
  lock: QUERIES_LOCK,
  action: () => "queries:write",
  async load(ctx) {
    const where = ofTier(ctx, "queries:write", isNull("team_id"));
    const queries = await inPages(ctx.store.queries.pages({ where }, BATCH_SIZE));
    const ids = queries.map(({ id }) => id);
    const ofThese = mayWriteConfig(ctx) ? everything : oneOf("query_id", ids);
    const labels = new Map<number, QueryLabels>();
    for (const { query_id, label_id, requires_all } of await ctx.store.queryLabels.list({ where: ofThese }))
      labels.set(query_id, { ids: [...(labels.get(query_id)?.ids ?? []), label_id], all: requires_all });
    return { queries, labels };
  },
  things: queryThings,
  read: readQuery,
  write: writeQueries,
};
