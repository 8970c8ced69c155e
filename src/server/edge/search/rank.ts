// Why a row matches a text, and how well.
import { searchForm } from "../../platform/store/rows.ts";

export interface SearchedField {
  readonly field: string;
  readonly text: string;
}

export interface Match extends SearchedField {
  readonly rank: number;
}

export const EQUAL = 0;
const STARTS = 1;
const STARTS_A_WORD = 2;
const CONTAINS = 3;

/** The field that matches best; of several, the first. */
export function bestMatch(fields: readonly SearchedField[], text: string): Match | null {
  const needle = searchForm(text);
  let best: Match | null = null;
  for (const field of fields) {
    const rank = rankOf(searchForm(field.text), needle);
    if (rank !== null && (best === null || rank < best.rank)) best = { ...field, rank };
  }
  return best;
}

function rankOf(form: string, needle: string): number | null {
  if (form === needle) return EQUAL;
  if (form.startsWith(needle)) return STARTS;
  let isInside = false;
  for (let at = form.indexOf(needle); at !== -1; at = form.indexOf(needle, at + 1)) {
    if (!/[\p{L}\p{N}]$/u.test(form.slice(0, at))) return STARTS_A_WORD;
    isInside = true;
  }
  return isInside ? CONTAINS : null;
}
