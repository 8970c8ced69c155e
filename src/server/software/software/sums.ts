// Rows of counts that were added up in memory: for lists over several scopes of teams.
import type { Meta } from "../../../api/fields.ts";
import type { Context } from "../../platform/core/context.ts";
import { afterOf, metaOf, type PageQuery, pageOfArray, windowOf } from "../../platform/core/http/paging.ts";
import { eq, type OrderTerm, type Predicate } from "../../platform/store/query.ts";
import { compareText } from "../../platform/store/rows.ts";

export const mostHosts: readonly OrderTerm[] = [
  { column: "hosts_count", direction: "desc" },
  { column: "name", direction: "asc" },
];

interface CountedTitle {
  readonly name: string;
  readonly hosts_count: number;
}

/** The order that the query names, and whether a row comes after the position that it names. */
function orderOfSums(query: PageQuery) {
  const key = query.order_key === "name" ? "name" : "hosts_count";
  const sign = query.order_key === undefined || query.order_direction === "desc" ? -1 : 1;
  const compareKey = (a: CountedTitle, b: CountedTitle) =>
    sign * (key === "name" ? compareText(a.name, b.name) : a.hosts_count - b.hosts_count);
  const compare = (a: CountedTitle, b: CountedTitle) =>
    compareKey(a, b) || (query.order_key === undefined ? compareText(a.name, b.name) : 0);
  const { after } = query;
  const position = after === undefined ? null : { name: after, hosts_count: Number(after) };
  const isAfter = (row: CountedTitle) => position === null || compareKey(row, position) > 0;
  return { compare, isAfter, sign };
}

/** The rows after the position that the query names, sorted. */
function sortedSums<T extends CountedTitle>(rows: readonly T[], query: PageQuery, idOf: (row: T) => number): T[] {
  const { compare, isAfter, sign } = orderOfSums(query);
  return rows.filter(isAfter).sort((a, b) => compare(a, b) || sign * (idOf(a) - idOf(b)));
}

/** A page of rows that were added up in memory, in the order and after the position that the query names. */
export const pageOfSums = <T extends CountedTitle>(rows: readonly T[], query: PageQuery, idOf: (row: T) => number) =>
  pageOfArray(sortedSums(rows, query, idOf), query);

/**
 * A page of stored rows, among which others are sorted that are in memory. `stored` reads rows in the same order. Of
 * those, no more are read than the page and as many as there are others.
 */
export async function pageWithOthers<T extends CountedTitle>(
  stored: (offset: number, limit: number) => Promise<readonly T[]>,
  others: readonly T[],
  query: PageQuery,
  idOf: (row: T) => number,
): Promise<{ items: T[]; meta: Meta }> {
  const { compare } = orderOfSums(query);
  const sorted = sortedSums(others, query, idOf);
  const { offset, limit } = windowOf(query);
  const start = Math.max(0, offset - sorted.length);
  const rows = await stored(start, limit + 1 + sorted.length);
  const [first] = rows;
  if (start > 0 && first === undefined) return { items: [], meta: metaOf(offset, limit, 0) };
  // Others that come before the first row that was read are on earlier pages, unless that is the first of all.
  const before = start > 0 && first !== undefined ? sorted.filter((other) => compare(other, first) < 0).length : 0;
  const merged: T[] = [];
  let next = before;
  for (const row of rows) {
    while (next < sorted.length && compare(sorted[next]!, row) < 0) merged.push(sorted[next++]!);
    merged.push(row);
  }
  merged.push(...sorted.slice(next));
  const page = merged.slice(offset - start - before);
  return { items: page.slice(0, limit), meta: metaOf(offset, limit, page.length) };
}

/** Refuses what a list from the store would refuse. */
export const checkAfter = ({ store }: Context, query: PageQuery): Predicate =>
  afterOf(store.softwareTitleCounts.table, query, { defaultOrder: mostHosts });

export const total = (rows: readonly CountedTitle[]): number =>
  rows.reduce((sum, { hosts_count }) => sum + hosts_count, 0);

/** A search text that is the beginning of a CVE. */
export const isCve = (text: string): boolean => /^cve-\d/i.test(text);
export const cveIs = (text: string): Predicate => eq("cve", text.toUpperCase());
