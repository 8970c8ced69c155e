// Counts that are stored beside the rows that they count for, and corrected now and then.
import { gt, type Select } from "../store/query.ts";

/** Rows per read or write. */
const BATCH_SIZE = 1000;

/** A count for each id that has one. */
type Counts = ReadonlyMap<number, number>;

export const countOf = (found: Counts, id: number): number => found.get(id) ?? 0;
export const without = (ids: ReadonlySet<number>, found: Counts): number[] => [...ids].filter((id) => !found.has(id));

export const asCounts = (groups: readonly { value: unknown; count: number }[]): Map<number, number> =>
  new Map(groups.flatMap(({ value, count }) => (typeof value === "number" ? [[value, count]] : [])));

interface Rows<K extends string> {
  pick(columns: readonly ("id" | K)[], select: Select): Promise<({ id: number } & Record<K, number>)[]>;
}

/** Passes the counts that changed to `write`, in batches. Returns the ids of all rows. */
export async function writeCounts<K extends string>(
  rows: Rows<NoInfer<K>>,
  columns: readonly K[],
  countsOf: (id: number) => Record<NoInfer<K>, number>,
  write: (changes: readonly ({ id: number } & Record<NoInfer<K>, number>)[]) => Promise<number>,
): Promise<ReadonlySet<number>> {
  const ids = new Set<number>();
  for (let last = 0; ; ) {
    const some = await rows.pick(["id", ...columns], {
      where: gt("id", last),
      order: [{ column: "id", direction: "asc" }],
      limit: BATCH_SIZE,
    });
    const changes = [];
    for (const row of some) {
      ids.add(row.id);
      const counts = countsOf(row.id);
      if (columns.some((column) => row[column] !== counts[column])) changes.push({ id: row.id, ...counts });
    }
    if (changes.length > 0) await write(changes);
    if (some.length < BATCH_SIZE) return ids;
    last = some.at(-1)!.id;
  }
}
