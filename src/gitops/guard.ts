// Removals that are too many to be meant: a file that was emptied, a glob that matches nothing any more.
import { type ThingKind, thingKinds } from "../api/configuration.ts";
import type { Change } from "./diff.ts";

/** Of fewer things of a kind, a share says nothing. */
const SHARE_FROM = 20;
const SHARE = 0.25;
export const DEFAULT_MAX_DELETES = 20;

/** Why the removals need to be allowed outright; null where they do not. */
export function guardRemovals(
  changes: readonly Change[],
  current: readonly { readonly kind: ThingKind }[],
  most: number,
): string | null {
  const removed = changes.filter(({ action }) => action === "delete");
  if (removed.length > most) return `the plan removes ${removed.length} things, more than ${most}`;
  for (const kind of thingKinds) {
    const there = count(current, kind);
    const gone = count(removed, kind);
    if (there >= SHARE_FROM && gone > there * SHARE)
      return `the plan removes ${gone} of ${there} (${kind.replaceAll("_", " ")}), more than a quarter`;
  }
  return null;
}

const count = (things: readonly { readonly kind: ThingKind }[], kind: ThingKind): number =>
  things.filter((thing) => thing.kind === kind).length;
