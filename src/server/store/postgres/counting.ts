// Counts as sums of counts that are each cheaper than the whole.
import { and, type Predicate } from "../query.ts";

export interface CountTerm {
  readonly minus: boolean;
  readonly where: Predicate;
}

/**
 * Terms whose sum is the count of `where`. Alternatives that exclude each other are counted one by one, each with the join that suits it, and
 * what does not satisfy them is everything less those that do; as one condition both would test row by row.
 */
export function countTerms(where: Predicate): CountTerm[] {
  const parts = where.op === "and" ? where.parts : [where];
  for (const [i, part] of parts.entries()) {
    const rest = parts.filter((_, at) => at !== i);
    const ways = exclusive(part.op === "not" ? part.part : part);
    if (!ways) continue;
    const terms = ways.flatMap((way) => countTerms(and(...rest, way)));
    if (part.op !== "not") return terms;
    return [...countTerms(and(...rest)), ...terms.map((term) => ({ ...term, minus: !term.minus }))];
  }
  return [{ minus: false, where }];
}

/** "There is a related row such that ..., or there is none and ...". */
function exclusive(where: Predicate): readonly Predicate[] | null {
  if (where.op !== "or" || where.parts.length !== 2) return null;
  const [a, b] = where.parts as [Predicate, Predicate];
  if (a.op !== "exists") return null;
  const lacks = (b.op === "and" ? b.parts : [b]).some(
    (part) =>
      part.op === "not" &&
      part.part.op === "exists" &&
      part.part.where.op === "all" &&
      part.part.table === a.table &&
      part.part.column === a.column &&
      part.part.local === a.local,
  );
  return lacks ? [a, b] : null;
}
