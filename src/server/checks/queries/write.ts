// Bulk writes of queries and their labels, in the caller's transaction, which must hold the queries lock.

import { pick } from "../../../api/plain-fields.ts";
import { forgetErrors } from "../../hosts/query-errors/errors.ts";
import { admitKeptSql } from "../../platform/agent-protocol/admit-carving.ts";
import { parts } from "../../platform/core/concurrency/parts.ts";
import type { Context } from "../../platform/core/context.ts";
import { checkLicenseRuns } from "../../platform/core/http/tier.ts";
import { byId } from "../../platform/core/maps.ts";
import { oneOf } from "../../platform/store/query.ts";
import type { QueryRow } from "./access.ts";
import type { QueryLabels } from "./rules.ts";
import { outdatesReport, type QueryColumns, queryColumns } from "./rules.ts";
export const NO_LABELS: QueryLabels = { ids: [], all: false };

export interface NewQuery {
  readonly columns: QueryColumns & { team_id: number | null; shard?: number | null };
  readonly labels: QueryLabels;
}

/** The names must be free. */
export async function insertQueries(ctx: Context, queries: readonly NewQuery[]): Promise<QueryRow[]> {
  const { store, clock, user } = ctx;
  for (const { columns } of queries) admitQuery(ctx, columns);
  if (queries.some(({ columns, labels }) => columns.team_id !== null || labels.ids.length > 0)) checkLicenseRuns(ctx);
  const now = clock.iso();
  const author_id = user.kind === "user" ? user.id : null;
  const rows: QueryRow[] = [];
  for await (const batch of parts(queries)) {
    const created = await store.queries.insertMany(
      batch.map(({ columns }) => ({ ...columns, created_at: now, updated_at: now, author_id })),
    );
    await store.queryLabels.insertMany(created.flatMap(({ id }, i) => labelRows(id, batch[i]!.labels)));
    rows.push(...created);
  }
  return rows;
}

const labelRows = (query_id: number, { ids, all }: QueryLabels) =>
  ids.map((label_id) => ({ query_id, label_id, requires_all: all }));

function admitQuery(ctx: Context, { name, query, team_id }: Pick<QueryRow, "name" | "query" | "team_id">): void {
  admitKeptSql(ctx, query, team_id, `the query ${JSON.stringify(name)}`);
}

export interface QueryChange {
  readonly before: QueryRow;
  readonly set: Partial<QueryColumns> & { shard?: number | null };
  /** Undefined: unchanged. */
  readonly labels: QueryLabels | undefined;
}

/** Deletes stored reports that a change invalidates. New names must be free. */
export async function updateQueries(ctx: Context, changes: readonly QueryChange[]): Promise<QueryRow[]> {
  // Checked even if the SQL is unchanged, since a changed interval may make more hosts run it.
  for (const { before, set } of changes)
    admitQuery(ctx, { name: before.name, query: set.query ?? before.query, team_id: before.team_id });
  const rows: QueryRow[] = [];
  for await (const batch of parts(changes)) rows.push(...(await updatePart(ctx, batch)));
  return rows;
}

async function updatePart(ctx: Context, changes: readonly QueryChange[]): Promise<QueryRow[]> {
  const { store, clock } = ctx;
  const ids = changes.map(({ before }) => before.id);
  const now = clock.iso();
  const current = new Map<number, { id: number; label_id: number; requires_all: boolean }[]>(ids.map((id) => [id, []]));
  for (const { query_id, ...label } of await store.queryLabels.list({ where: oneOf("query_id", ids) }))
    current.get(query_id)?.push(label);
  const labelsOf = (id: number): QueryLabels => ({
    ids: current.get(id)!.map(({ label_id }) => label_id),
    all: current.get(id)!.some(({ requires_all }) => requires_all),
  });

  const outdated = changes.filter(({ before, set, labels }) =>
    outdatesReport(before, set, { before: labelsOf(before.id), after: labels }),
  );
  if (outdated.length > 0)
    await store.queryResults.delete(
      oneOf(
        "query_id",
        outdated.map(({ before }) => before.id),
      ),
    );
  await forgetErrors(
    store,
    "query_id",
    changes.flatMap(({ before, set }) => (set.query === undefined || set.query === before.query ? [] : before.id)),
  );
  const relabelled = changes.flatMap(({ before: { id }, labels }) => (labels === undefined ? [] : [{ id, labels }]));
  const gone = relabelled.flatMap(({ id, labels }) =>
    current.get(id)!.filter((label) => !labels.ids.includes(label.label_id) || label.requires_all !== labels.all),
  );
  if (gone.length > 0)
    await store.queryLabels.delete(
      oneOf(
        "id",
        gone.map(({ id }) => id),
      ),
    );
  const isKept = (id: number, { label_id, requires_all }: { label_id: number; requires_all: boolean }) =>
    current.get(id)!.some((label) => label.label_id === label_id && label.requires_all === requires_all);
  const fresh = relabelled.flatMap(({ id, labels }) => labelRows(id, labels).filter((row) => !isKept(id, row)));
  if (fresh.length > 0) checkLicenseRuns(ctx);
  await store.queryLabels.insertMany(fresh);
  await store.queries.updateEach(
    changes.map(({ before, set }) => ({ id: before.id, ...columnsAfter(before, set), updated_at: now })),
  );
  const rows = byId(await store.queries.getMany(ids));
  return ids.map((id) => rows.get(id)!);
}

/** All columns, since the rows of one bulk write must set the same ones. */
const columnsAfter = (before: QueryRow, set: QueryChange["set"]): QueryColumns & { shard: number | null } => ({
  ...pick(before, queryColumns),
  shard: before.shard,
  ...withoutUndefined(set),
});

const withoutUndefined = <T extends object>(value: T): T =>
  Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as T;
