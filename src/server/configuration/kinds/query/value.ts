import { z } from "zod";
import { isOneLine, NOT_ONE_LINE } from "../../../../api/fields.ts";
import { QueryFields, queryPlatforms } from "../../../../api/queries.ts";
import type { Context } from "../../../core/context.ts";
import { invalid } from "../../../core/errors.ts";
import type { QueryRow } from "../../../queries/access.ts";
import { type QueryColumns, wholeFields } from "../../../queries/rules.ts";
import { checkLabelTier } from "../../../queries/service.ts";
import type { Given } from "../../changes.ts";
import { namesOf, parsed, platformsOf } from "../../parse.ts";
import type { SharedRows } from "../../shared-rows.ts";
import type { Thing } from "../../values.ts";

const QueryValue = z.strictObject(QueryFields.omit({ name: true }).shape);

export interface QueryWanted {
  readonly columns: QueryColumns;
  readonly labels: readonly string[];
}

export const queryValue = (columns: Omit<QueryColumns, "name">, labels: readonly string[]) => ({
  description: columns.description,
  query: columns.query,
  interval: columns.interval,
  observer_can_run: columns.observer_can_run,
  platform: platformsOf(queryPlatforms, columns.platform),
  min_qengine_version: columns.min_qengine_version,
  automations_enabled: columns.automations_enabled,
  logging: columns.logging,
  discard_data: columns.discard_data,
  labels_include_any: [...labels].sort(),
});

export interface QueryRows {
  readonly queries: readonly QueryRow[];
  readonly labels: ReadonlyMap<number, readonly number[]>;
}

export function* queryThings({ queries, labels }: QueryRows, shared: SharedRows): Generator<Thing> {
  const teams = new Map(shared.teams.map(({ id, name }) => [id, name]));
  const names = new Map(shared.labels.map(({ id, name }) => [id, name]));
  for (const row of queries)
    yield {
      kind: "query",
      owner: row.team_id === null ? null : teams.get(row.team_id)!,
      name: row.name,
      value: queryValue(row, namesOf(labels.get(row.id), names)),
    };
}

export function readQuery(ctx: Context, { name, value, action }: Given): QueryWanted {
  const { labels_include_any: given, ...fields } = parsed(QueryValue, value);
  const labels = [...new Set((given ?? []).map((label) => label.normalize("NFC").trim()))];
  checkLabelTier(ctx, labels);
  const columns = wholeFields({ ...fields, name });
  if (action === "create" && !isOneLine(name)) throw invalid("change.name", NOT_ONE_LINE);
  if (columns.name !== name) throw invalid("change.name", "must be in Unicode NFC, without surrounding spaces");
  return { columns, labels };
}
