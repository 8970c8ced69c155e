// Counts that are stored beside the rows that they count for, and corrected now and then.
import { gt, type Select } from "../store/query.ts";

/** Rows per read or write. */
const BATCH_SIZE = 1000;

/** A count for each id that has one. */
type Counts = ReadonlyMap<number, number>;

export const countOf = (counts: Counts, id: number): number => counts.get(id) ?? 0;
export const without = (ids: ReadonlySet<number>, counts: Counts): number[] => [...ids].filter((id) => !counts.has(id));

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
    const page = await rows.pick(["id", ...columns], {
      where: gt("id", last),
      order: [{ column: "id", direction: "asc" }],
      limit: BATCH_SIZE,
    });
    const changes = [];
    for (const row of page) {
      ids.add(row.id);
      const counts = countsOf(row.id);
      if (columns.some((column) => row[column] !== counts[column])) changes.push({ id: row.id, ...counts });
    }
    if (changes.length > 0) await write(changes);
    if (page.length < BATCH_SIZE) return ids;
    last = page.at(-1)!.id;
  }
}
