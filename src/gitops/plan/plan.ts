// Computes the changes between the server's state and the files, and the request that applies them.

import type { ConfigurationState, Pin, StateThing, ThingChange } from "../../api/edge/configuration.ts";
import { isSecretRef, type Json } from "../../text/differences.ts";
import { isRecord } from "../../text/record.ts";
import { isDeletable, ofNewTeam } from "../kinds.ts";
import { diff } from "./changes.ts";
import { type Change, keyOf, type Thing } from "./diff.ts";

export interface DesiredThings {
  readonly things: readonly Thing[];
  /** Whether the files are the complete list of this kind in this scope, so that other objects are deleted. */
  isComplete(thing: Thing): boolean;
}

export function planOf({ things }: Pick<ConfigurationState, "things">, desired: DesiredThings): Change[] {
  const named = teamsOf(desired.things);
  const there = teamsOf(things);
  const fresh = [...named].filter((name) => !there.has(name));
  // The objects of a deleted team are deleted with it: each of them is shown and counted.
  const leaving = teamsOf(things.filter((thing) => !named.has(thing.name) && desired.isComplete(thing)));
  const goes = (thing: Thing) =>
    isDeletable(thing.kind) && (desired.isComplete(thing) || (thing.owner !== null && leaving.has(thing.owner)));
  return diff(
    [...things, ...fresh.flatMap((owner) => ofNewTeam.map(({ kind, value }) => ({ kind, owner, name: kind, value })))],
    desired.things,
    goes,
  );
}

const teamsOf = (things: readonly Pick<Thing, "kind" | "name">[]): Set<string> =>
  new Set(things.filter(({ kind }) => kind === "team").map(({ name }) => name));

/** Teams of the server that the files do not name. */
export const otherTeams = (things: readonly Thing[], desired: readonly Thing[]): string[] => {
  const named = teamsOf(desired);
  return [...teamsOf(things)].filter((name) => !named.has(name)).sort();
};

/** Kinds that are part of their scope exist as soon as the scope does. */
export const toThingChange = ({ action, kind, owner, name, value }: Change): ThingChange => ({
  action: isDeletable(kind) ? action : "update",
  kind,
  owner,
  name,
  ...(action === "delete" ? {} : { value: value as ThingChange["value"] }),
});

const revisionPin = ({ kind, owner, name, revision }: StateThing): Pin => ({ kind, owner, name, revision });
const absentPin = ({ kind, owner, name }: Change): Pin => ({ kind, owner, name, revision: null });

/** The revisions that the apply checks: of changed objects only, or of everything. */
export function pinsOf(things: readonly StateThing[], changes: readonly Change[], all: boolean): Pin[] {
  const touched = new Set(changes.map(keyOf));
  return [
    ...things.filter((thing) => all || touched.has(keyOf(thing))).map(revisionPin),
    ...changes.filter(({ action, kind }) => action === "create" && isDeletable(kind)).map(absentPin),
  ];
}

const isDigest = (value: Json): value is string => typeof value === "string" && /^[0-9a-f]{64}$/.test(value);

/** The files that hosts get anew, in base64 by their digests. All files of an object are sent if one of them differs. */
export function filesOf(changes: readonly Change[], contents: ReadonlyMap<string, Buffer>): Record<string, string> {
  const files: Record<string, string> = {};
  for (const { action, value, fields } of changes) {
    const changed = new Set(fields.map(({ path }) => path));
    const digests = Object.entries(isRecord(value) ? value : {}).filter(([, field]) => isDigest(field));
    if (action !== "create" && !digests.some(([key]) => changed.has(key))) continue;
    for (const [, sha256] of digests) {
      const content = contents.get(sha256 as string);
      if (content) files[sha256 as string] = content.toString("base64");
    }
  }
  return files;
}

/** The large files that the changes refer to and that the server does not have yet, as far as this plan tells. */
export function uploadsOf<T>(changes: readonly Change[], uploadsByDigest: ReadonlyMap<string, T>): T[] {
  const digests = changes.flatMap(({ value }) =>
    isRecord(value) && typeof value.sha256 === "string" ? [value.sha256] : [],
  );
  return [...new Set(digests)].flatMap((sha256) => uploadsByDigest.get(sha256) ?? []);
}

/** The secrets that the changes refer to: no others are sent or saved. */
export function secretsOf(
  changes: readonly Change[],
  secretTexts: ReadonlyMap<string, string>,
): Record<string, string> {
  const used: Record<string, string> = {};
  const walk = (value: Json): void => {
    if (isSecretRef(value)) {
      const text = secretTexts.get(value.$secret);
      if (text !== undefined) used[value.$secret] = text;
    } else if (Array.isArray(value)) value.forEach(walk);
    else if (isRecord(value)) Object.values(value).forEach(walk);
  };
  for (const { value } of changes) walk(value);
  return used;
}
