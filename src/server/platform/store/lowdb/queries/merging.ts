// Merges conditions on rows of the same other table, so that the other table is read once for all of them.
import { not, or, type Predicate } from "../../query.ts";

type Exists = Extract<Predicate, { op: "exists" }>;
type HasOf = Extract<Predicate, { op: "hasOf" }>;
type RowLookup = Exists | HasOf;

/** "A row exists that satisfies a, or one that satisfies b" is "a row exists that satisfies a or b". */
export function mergedAlternatives(parts: readonly Predicate[]): readonly Predicate[] {
  const merged: Predicate[] = [];
  const groups: { readonly place: number; readonly first: RowLookup; readonly conditions: Predicate[] }[] = [];
  for (const part of parts) {
    const group = isRowLookup(part) ? groups.find(({ first }) => isAlike(first, part)) : undefined;
    if (group && isRowLookup(part)) {
      group.conditions.push(part.where);
      continue;
    }
    if (isRowLookup(part)) groups.push({ place: merged.length, first: part, conditions: [part.where] });
    merged.push(part);
  }
  for (const { place, first, conditions } of groups)
    if (conditions.length > 1) merged[place] = { ...first, where: or(...conditions) };
  return merged;
}

/** "Neither a nor b" is "not (a or b)", whose alternatives can be merged. */
export function mergedConditions(parts: readonly Predicate[]): readonly Predicate[] {
  const refused = parts.flatMap((part) => (part.op === "not" && isRowLookup(part.part) ? [part.part] : []));
  if (refused.length < 2) return parts;
  const alternatives = mergedAlternatives(refused);
  const others = parts.filter((part) => part.op !== "not" || !isRowLookup(part.part));
  return [...others, ...alternatives.map(not)];
}

const isRowLookup = (part: Predicate): part is RowLookup => part.op === "exists" || part.op === "hasOf";

const isAlike = (a: RowLookup, b: RowLookup): boolean =>
  a.table === b.table &&
  a.column === b.column &&
  (a.op === "exists" ? b.op === "exists" && a.local === b.local : b.op === "hasOf" && a.from === b.from);
