import { z } from "zod";
import { QueryFields, queryFields, queryPlatforms } from "../../../../../api/checks/queries.ts";
import { isOneLine, NOT_ONE_LINE } from "../../../../../api/fields.ts";
import { fieldNames, pick } from "../../../../../api/plain-fields.ts";
import type { QueryRow } from "../../../../checks/queries/access.ts";
import type { QueryLabels } from "../../../../checks/queries/rules.ts";
import { type QueryColumns, wholeFields } from "../../../../checks/queries/rules.ts";
import { labelSelection } from "../../../../checks/queries/service.ts";
import type { Context } from "../../../../platform/core/context.ts";
import { invalid } from "../../../../platform/core/errors.ts";
import type { RequestedChange } from "../../changes.ts";
import { namesOf, parsed, platformsOf } from "../../parse.ts";
import type { SharedRows } from "../../shared-rows.ts";
import type { Thing } from "../../values.ts";

const plainNames = fieldNames(queryFields);
const QueryValue = z.strictObject(QueryFields.omit({ name: true }).shape);

export interface DesiredQuery {
  readonly columns: QueryColumns;
  readonly labels: DesiredLabels;
}

interface DesiredLabels {
  readonly names: readonly string[];
  readonly all: boolean;
}

export const queryValue = (columns: Omit<QueryColumns, "name">, { names, all }: DesiredLabels) => ({
  query: columns.query,
  ...pick(columns, plainNames),
  platform: platformsOf(queryPlatforms, columns.platform),
  min_qengine_version: columns.min_qengine_version,
  logging: columns.logging,
  labels_include_any: all ? [] : [...names].sort(),
  labels_include_all: all ? [...names].sort() : [],
});

export interface QueryRows {
  readonly queries: readonly QueryRow[];
  readonly labels: ReadonlyMap<number, QueryLabels>;
}

export function* queryThings({ queries, labels }: QueryRows, shared: SharedRows): Generator<Thing> {
  const teams = new Map(shared.teams.map(({ id, name }) => [id, name]));
  const names = new Map(shared.labels.map(({ id, name }) => [id, name]));
  for (const row of queries)
    yield {
      kind: "query",
      owner: row.team_id === null ? null : teams.get(row.team_id)!,
      name: row.name,
      value: queryValue(row, {
        names: namesOf(labels.get(row.id)?.ids, names),
        all: labels.get(row.id)?.all ?? false,
      }),
    };
}

export function readQuery(ctx: Context, { name, value, action }: RequestedChange): DesiredQuery {
  const { labels_include_any, labels_include_all, ...fields } = parsed(QueryValue, value);
  const selection = labelSelection(ctx, { labels_include_any, labels_include_all });
  const names = [...new Set((selection?.names ?? []).map((label) => label.normalize("NFC").trim()))];
  const labels = { names, all: selection?.all ?? false };
  const columns = wholeFields({ ...fields, name });
  if (action === "create" && !isOneLine(name)) throw invalid("change.name", NOT_ONE_LINE);
  if (columns.name !== name) throw invalid("change.name", "must be in Unicode NFC, without surrounding spaces");
  return { columns, labels };
}
