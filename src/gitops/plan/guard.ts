// Refuses implausibly many deletions, such as those from an emptied file or from a glob that no longer matches.
import { kindNames } from "../kinds.ts";
import { hostsLosingTeam } from "./consequences.ts";
import type { Change } from "./diff.ts";

/** With fewer objects of a kind, a share means little. */
const MIN_GUARDED_COUNT = 20;
const MAX_DELETED_SHARE = 0.25;
export const DEFAULT_MAX_DELETES = 20;

/** Why the deletions must be allowed explicitly; null if they need not. */
export function guardRemovals(
  changes: readonly Change[],
  current: readonly { readonly kind: string }[],
  most: number,
): string | null {
  const hosts = hostsLosingTeam(changes);
  if (hosts > most) return `the plan deletes the teams of ${hosts} hosts, more than ${most}`;
  const removed = changes.filter(({ action }) => action === "delete");
  if (removed.length > most) return `the plan removes ${removed.length} objects, more than ${most}`;
  for (const kind of kindNames) {
    const there = count(current, kind);
    const gone = count(removed, kind);
    if (there >= MIN_GUARDED_COUNT && gone > there * MAX_DELETED_SHARE)
      return `the plan removes ${gone} of ${there} (${kind.replaceAll("_", " ")}), more than a quarter`;
  }
  return null;
}

const count = (things: readonly { readonly kind: string }[], kind: string): number =>
  things.filter((thing) => thing.kind === kind).length;
