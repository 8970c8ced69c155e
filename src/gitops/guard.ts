// Removals that are too many to be meant: a file that was emptied, a glob that matches nothing any more.
import { type Change, type Kind, kinds, type Thing } from "./diff.ts";

/** Of fewer things of a kind, a share says nothing. */
const SHARE_FROM = 20;
const SHARE = 0.25;

/** Why the removals need to be allowed outright; null where they do not. */
export function guardRemovals(changes: readonly Change[], current: readonly Thing[], most: number): string | null {
  const removed = changes.filter(({ action }) => action === "delete");
  if (removed.length > most) return `the plan removes ${removed.length} things, more than ${most}`;
  for (const kind of kinds) {
    const there = count(current, kind);
    const gone = count(removed, kind);
    if (there >= SHARE_FROM && gone > there * SHARE)
      return `the plan removes ${gone} of ${there} (${kind.replaceAll("_", " ")}), more than a quarter`;
  }
  return null;
}

const count = (things: readonly { readonly kind: Kind }[], kind: Kind): number =>
  things.filter((thing) => thing.kind === kind).length;
