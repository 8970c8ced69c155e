// Reads the rows that could be results.
import type { SearchQuery, SearchType } from "../../../api/edge/search.ts";
import type { Context } from "../../platform/core/context.ts";
import { and, type OrderTerm, or, type Predicate, same, search, startsWith } from "../../platform/store/query.ts";
import type { SearchedField } from "./rank.ts";

/** A row that contains the text in one of its fields. */
export interface Candidate {
  readonly id: number | string;
  readonly name: string;
  readonly detail: string;
  readonly team_id: number | null;
  readonly fields: readonly SearchedField[];
}

export type SearchRequest = Pick<SearchQuery, "query" | "team_id" | "per_type">;

export interface SearchSource {
  readonly type: SearchType;
  readonly find: (ctx: Context, request: SearchRequest) => Promise<readonly Candidate[]>;
}

/** Rows that contain the text and are read at most; they are ranked in memory. */
export const MAX_CANDIDATES = 100;

interface RowSelection {
  readonly where: Predicate;
  readonly order: readonly OrderTerm[];
  readonly limit: number;
}

export interface SearchedColumns {
  /** Which rows the caller may see. */
  readonly where: Predicate;
  /** Columns that are declared with `.search()`. */
  readonly columns: readonly string[];
  /** The columns in which a match at the start comes first. */
  readonly starts?: readonly string[];
  /** Rows of which a column is equal to the text. Without it, every column is compared. */
  readonly equal?: Predicate;
  /** Rows that contain the text elsewhere. */
  readonly elsewhere?: Predicate;
  /** Wraps the condition on the columns, if these are in another table. */
  readonly via?: (condition: Predicate) => Predicate;
  readonly order?: readonly OrderTerm[];
}

export const byName: readonly OrderTerm[] = [{ column: "name", direction: "asc" }];

/** The matching rows, each once: if there are many, first those that are equal to the text or start with it. */
export async function candidateRows<R extends { readonly id: number }>(
  read: (selected: RowSelection) => Promise<R[]>,
  { query: text, per_type: limit }: SearchRequest,
  searched: SearchedColumns,
): Promise<R[]> {
  const { where, columns, starts = columns, elsewhere, via = (condition) => condition, order = byName } = searched;
  const contained = via(search(columns, text));
  const anywhere = elsewhere === undefined ? contained : or(contained, elsewhere);
  const rows = await read({ where: and(where, anywhere), order, limit: MAX_CANDIDATES });
  if (rows.length < MAX_CANDIDATES) return rows;
  const equal = searched.equal ?? via(or(...columns.map((column) => same(column, text))));
  const first = await Promise.all([
    read({ where: and(where, equal), order, limit }),
    read({ where: and(where, via(startsWith(starts, text))), order, limit }),
  ]);
  return [...new Map([...first.flat(), ...rows].map((row) => [row.id, row])).values()];
}
