// Digests of a store's contents: equal for both engines if every row, revision and next id is equal.
import { createHash } from "node:crypto";
import { adminOf } from "../admin.ts";
import type { Collection, Collections, Store, Tables } from "../store.ts";
import type { Table } from "../table.ts";

export type PlainRow = Readonly<Record<string, unknown>>;

export interface TableState {
  readonly name: string;
  readonly rows: number;
  readonly sha256: string;
}

/** The collections in the order in which their tables are declared. */
export const collectionsOf = <S extends Tables>(view: Collections<S>, tables: S): Collection[] =>
  Object.keys(tables).map((key) => view[key] as unknown as Collection);

/** Digest of the rows of a table; add them in the order of their ids. */
export class RowDigest {
  rows = 0;
  readonly #hash = createHash("sha256");
  readonly #columns: readonly string[];
  readonly #secret: ReadonlySet<string>;

  /** @param secrets `present` includes only whether a secret is set, for digests stored where others may read them */
  constructor(table: Table, secrets: "whole" | "present" = "whole") {
    this.#columns = [...Object.keys(table.columns), "revision"];
    const names = Object.entries(table.columns).filter(([, { spec }]) => spec.secret && secrets === "present");
    this.#secret = new Set(names.map(([column]) => column));
  }

  add(row: PlainRow): void {
    this.rows++;
    const values = this.#columns.map((column) => (this.#secret.has(column) ? row[column] !== null : row[column]));
    this.#hash.update(JSON.stringify(values)).update("\n");
  }

  hex(): string {
    return this.#hash.digest("hex");
  }
}

export async function tableState(collection: Collection, secrets: "whole" | "present" = "whole"): Promise<TableState> {
  const digest = new RowDigest(collection.table, secrets);
  for await (const page of collection.pages()) for (const row of page) digest.add(row);
  return { name: collection.table.name, rows: digest.rows, sha256: digest.hex() };
}

/** One digest of the whole store: stores with equal contents have equal hashes, even with different engines. */
export async function stateHash<S extends Tables>(store: Store<S>): Promise<string> {
  const hash = createHash("sha256");
  const admin = adminOf(store);
  const states = await admin.snapshot(async (view) => {
    const states: TableState[] = [];
    for (const collection of collectionsOf(view, store.tables)) states.push(await tableState(collection));
    return states;
  });
  const next = await admin.nextIds();
  for (const { name, rows, sha256 } of states.sort((a, b) => (a.name < b.name ? -1 : 1)))
    hash.update(JSON.stringify([name, rows, sha256, next[name] ?? null]));
  return hash.digest("hex");
}
