// Verifies the contents of a store, for `svc db check` and before a copy is trusted.
import { adminOf } from "../admin.ts";
import { type OrderTerm, oneOf } from "../query.ts";
import { partRow } from "../rows.ts";
import type { Collection, Store, Tables } from "../store.ts";
import type { Table } from "../table.ts";
import { collectionsOf, type PlainRow, RowDigest, type TableState } from "./checksum.ts";

export interface CheckResult {
  readonly tables: TableState[];
  /** One sentence per problem; empty if there are none. */
  readonly problems: string[];
}

/** Maximum number of problems reported per kind. */
const MAX_PROBLEMS_PER_TABLE = 20;

/**
 * Reads everything and checks that values match their columns, secrets can be decrypted, references resolve, unique
 * sets are unique, and next ids are greater than all ids.
 */
export async function checkStore<S extends Tables>(
  store: Store<S>,
  { onTable }: { onTable?: (name: string) => void } = {},
): Promise<CheckResult> {
  const tables: TableState[] = [];
  const problems: string[] = [];
  const admin = adminOf(store);
  await admin.snapshot(async (view) => {
    const next = await admin.nextIds();
    const collections = collectionsOf(view, store.tables);
    const byName = new Map(collections.map((collection) => [collection.table.name, collection]));
    for (const collection of collections) {
      onTable?.(collection.table.name);
      const tableProblems: string[] = [];
      tables.push(await checkRows(collection, byName, next[collection.table.name], tableProblems));
      for (const columns of uniqueSets(collection.table)) await checkUnique(collection, columns, tableProblems);
      problems.push(...tableProblems.slice(0, MAX_PROBLEMS_PER_TABLE));
      if (tableProblems.length > MAX_PROBLEMS_PER_TABLE)
        problems.push(`${collection.table.name}: ${tableProblems.length - MAX_PROBLEMS_PER_TABLE} more`);
    }
  });
  return { tables, problems };
}

async function checkRows(
  collection: Collection,
  byName: ReadonlyMap<string, Collection>,
  next: number | undefined,
  problems: string[],
): Promise<TableState> {
  const { table } = collection;
  const digest = new RowDigest(table);
  const references = Object.entries(table.columns).filter(([, { spec }]) => spec.to !== null && spec.kind !== "ids");
  let last = 0;
  for await (const page of collection.pages()) {
    const rows = page as readonly PlainRow[];
    for (const row of rows) {
      digest.add(row);
      const { revision, ...values } = row;
      try {
        partRow(table, values);
      } catch (error) {
        problems.push(`${table.name} ${row.id}: ${error instanceof Error ? error.message : error}`);
      }
      if (typeof revision !== "number" || revision < 1)
        problems.push(`${table.name} ${row.id}: invalid revision ${revision}`);
      last = Math.max(last, row.id as number);
    }
    for (const [column, { spec }] of references) {
      const references = [...new Set(rows.map((row) => row[column]).filter((id) => typeof id === "number"))];
      const there = new Set(
        (await byName.get(spec.to!)!.pick(["id"], { where: oneOf("id", references) })).map(({ id }) => id),
      );
      for (const id of references)
        if (!there.has(id)) problems.push(`${table.name}.${column}: refers to ${spec.to} ${id}, which does not exist`);
    }
  }
  if (next !== undefined && next <= last)
    problems.push(`${table.name}: the next id is ${next}, but row ${last} exists`);
  return { name: table.name, rows: digest.rows, sha256: digest.hex() };
}

const uniqueSets = (table: Table): (readonly string[])[] => [
  ...Object.entries(table.columns)
    .filter(([, { spec }]) => spec.unique)
    .map(([column]) => [column]),
  ...table.unique,
];

/** Reads the rows sorted by the set, so that duplicates are adjacent. */
async function checkUnique(collection: Collection, columns: readonly string[], problems: string[]): Promise<void> {
  const { table } = collection;
  const order: OrderTerm[] = columns.map((column) => ({ column, direction: "asc" }));
  const alone = columns.length === 1 && table.columns[columns[0]!]!.spec.unique;
  let before: string | undefined;
  for await (const page of collection.pages({ order }, 5000))
    for (const row of page as readonly PlainRow[]) {
      const values = columns.map((column) => row[column]);
      const key = JSON.stringify(values);
      if (key === before && !(alone && values[0] === null))
        problems.push(`${table.name}: two rows have the same ${columns.join(", ")} (${row.id})`);
      before = key;
    }
}
