// Side tables, whose rows have the id of a row of another table (`idOf`), read together for many ids.
import type { RowOf, Table } from "./table.ts";

/** Columns to read from one side table. */
export interface Side<T extends Table = Table, K extends string = string> {
  readonly table: T;
  readonly columns: readonly K[];
}

export const side = <T extends Table, K extends keyof RowOf<T> & string>(
  table: T,
  ...columns: readonly K[]
): Side<T, K> => ({ table, columns });

/** Sides by names of the caller. Those that are undefined are not read. */
export type Sides = Readonly<Record<string, Side | undefined>>;

/** The rows of one id, by the names under which the sides were requested; null where a table has no row for it. */
export type SidesOf<S extends Sides> = {
  readonly [N in keyof S]: S[N] extends Side<infer T, infer K> | undefined
    ? Pick<RowOf<T>, K & keyof RowOf<T>> | null
    : never;
};

/**
 * Rows of a table with their sides. Each row is made when it is requested, so that few of them are in memory at a time:
 * request each once, use it, and drop it.
 */
export interface Batch<R, S> {
  readonly ids: readonly number[];
  /** The row at this place of `ids`. */
  row(place: number): R;
  sides(place: number): S;
}

/** The sides to read, with their names. Throws if one does not have the ids of `table`. */
export function readSides(table: Table, sides: Sides): [name: string, side: Side][] {
  const selected: [string, Side][] = [];
  for (const [name, side] of Object.entries(sides)) {
    if (side === undefined) continue;
    if (side.table.columns.id?.spec.to !== table.name)
      throw new Error(`${side.table.name} does not have the ids of ${table.name}`);
    selected.push([name, side]);
  }
  return selected;
}
