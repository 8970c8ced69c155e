// Splits a count into a sum of counts that are cheaper in total.
import { and, type Predicate } from "../query.ts";

interface CountTerm {
  readonly minus: boolean;
  readonly where: Predicate;
}

/**
 * Returns terms whose signed sum is the count of `where`. The two parts of an "or" are counted separately, each with
 * its best join, minus the rows that match both; a negated "or" is everything minus that. As one condition, Postgres
 * would test both parts row by row.
 */
export function countTerms(where: Predicate): CountTerm[] {
  const parts = where.op === "and" ? where.parts : [where];
  const apart = lessThoseThatHave(parts);
  if (apart) return apart;
  for (const [i, part] of parts.entries()) {
    const rest = parts.filter((_, at) => at !== i);
    const ways = waysOf(positive(part), rest);
    if (!ways) continue;
    const terms = ways.flatMap(({ minus, where: way }) => signed(minus, countTerms(and(...rest, way))));
    if (part.op !== "not") return terms;
    return [...countTerms(and(...rest)), ...signed(true, terms)];
  }
  return [{ minus: false, where }];
}

/**
 * Handles "has one of these members and none of those" where another table has one row per row of this table. Both
 * counts use the index on the members and are subtracted; as one condition, the second part would be tested row by
 * row.
 */
export function lessThoseThatHave(parts: readonly Predicate[]): CountTerm[] | null {
  if (parts.length !== 2) return null;
  const has = parts.find((part) => part.op === "exists");
  const not = parts.find((part) => part.op === "not");
  const hasNot = not?.part;
  if (!has || hasNot?.op !== "exists" || hasNot.table !== has.table || hasNot.where.op !== "hasOf") return null;
  if ([has, hasNot].some(({ column, local }) => column !== "id" || local !== "id")) return null;
  return [
    { minus: false, where: has },
    { minus: true, where: { ...has, where: and(has.where, hasNot.where) } },
  ];
}

const signed = (minus: boolean, terms: readonly CountTerm[]): CountTerm[] =>
  terms.map((term) => (minus ? { ...term, minus: !term.minus } : term));

const positive = (part: Predicate): Predicate => (part.op === "not" ? part.part : part);

function waysOf(where: Predicate, rest: readonly Predicate[]): readonly CountTerm[] | null {
  if (where.op !== "or" || where.parts.length !== 2) return null;
  const { parts } = where;
  const plus = parts.map((part) => ({ minus: false, where: part }));
  if (exclusive(parts)) return plus;
  // With further "or" conditions in the rest, there would be too many terms to be cheaper.
  const isWorth = parts.every((part) => part.op === "exists") && rest.every((part) => positive(part).op !== "or");
  return isWorth ? [...plus, { minus: true, where: and(...parts) }] : null;
}

/** Whether the parts exclude each other: "there is a related row such that ..., or there is none and ...". */
function exclusive(parts: readonly Predicate[]): boolean {
  const [a, b] = parts as [Predicate, Predicate];
  if (a.op !== "exists") return false;
  return (b.op === "and" ? b.parts : [b]).some(
    (part) =>
      part.op === "not" &&
      part.part.op === "exists" &&
      part.part.where.op === "all" &&
      part.part.table === a.table &&
      part.part.column === a.column &&
      part.part.local === a.local,
  );
}
