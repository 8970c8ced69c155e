// Rows of counts that were added up in memory: for lists over several scopes of teams.
import type { Context } from "../core/context.ts";
import { afterOf, type PageQuery, pageOfArray } from "../core/http/paging.ts";
import { eq, type OrderTerm, type Predicate } from "../store/query.ts";
import { compareText } from "../store/rows.ts";

export const mostHosts: readonly OrderTerm[] = [
  { column: "hosts_count", direction: "desc" },
  { column: "name", direction: "asc" },
];

export interface Counted {
  readonly name: string;
  readonly hosts_count: number;
}

/** A page of rows that were added up in memory, in the order and after the position that the query names. */
export function pageOfSums<T extends Counted>(rows: readonly T[], query: PageQuery, idOf: (row: T) => number) {
  const key = query.order_key === "name" ? "name" : "hosts_count";
  const sign = query.order_key === undefined || query.order_direction === "desc" ? -1 : 1;
  const compare = (a: Counted, b: Counted) =>
    key === "name" ? compareText(a.name, b.name) : a.hosts_count - b.hosts_count;
  const after = query.after === undefined ? null : { name: query.after, hosts_count: Number(query.after) };
  const kept = after === null ? rows : rows.filter((row) => sign * compare(row, after) > 0);
  return pageOfArray(
    [...kept].sort(
      (a, b) =>
        sign * compare(a, b) ||
        (query.order_key === undefined ? compareText(a.name, b.name) : 0) ||
        sign * (idOf(a) - idOf(b)),
    ),
    query,
  );
}

/** Refuses what a list from the store would refuse. */
export const checkAfter = ({ store }: Context, query: PageQuery): Predicate =>
  afterOf(store.softwareTitleCounts.table, query, { defaultOrder: mostHosts });

export const total = (rows: readonly Counted[]): number => rows.reduce((sum, { hosts_count }) => sum + hosts_count, 0);

/** A search text that is the beginning of a CVE. */
export const isCve = (text: string): boolean => /^cve-\d/i.test(text);
export const cveIs = (text: string): Predicate => eq("cve", text.toUpperCase());
