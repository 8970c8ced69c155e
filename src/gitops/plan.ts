// From what is on the server and what files say to the changes between them, and to the call that makes them.
import type { ConfigurationState, Pin, StateThing, ThingChange, ThingKind } from "../api/configuration.ts";
import { type Change, diff, isRecord, isSecretRef, type Json, keyOf, type Thing } from "./diff.ts";

/** The rest is part of a scope, and goes with it. */
const deletable: ReadonlySet<ThingKind> = new Set([
  "certificate_authority",
  "label",
  "team",
  "policy",
  "query",
] satisfies ThingKind[]);

export interface Wanted {
  readonly things: readonly Thing[];
  /** Whether the files have all there is of its kind in its scope, so that what is not in them goes. */
  isComplete(thing: Thing): boolean;
}

export function planOf({ things }: Pick<ConfigurationState, "things">, wanted: Wanted): Change[] {
  const named = teamsOf(wanted.things);
  const there = teamsOf(things);
  const fresh = [...named].filter((name) => !there.has(name));
  // What a team has goes with it: each of these is told, and counted.
  const leaving = teamsOf(things.filter((thing) => !named.has(thing.name) && wanted.isComplete(thing)));
  const goes = (thing: Thing) =>
    deletable.has(thing.kind) && (wanted.isComplete(thing) || (thing.owner !== null && leaving.has(thing.owner)));
  return diff([...things, ...fresh.flatMap((name) => ofNewTeam(name))], wanted.things, goes);
}

const teamsOf = (things: readonly Pick<Thing, "kind" | "name">[]): Set<string> =>
  new Set(things.filter(({ kind }) => kind === "team").map(({ name }) => name));

/** What a new team has none of. Its settings come into being too, but what they are hangs on the organization's. */
const ofNewTeam = (owner: string): Thing[] => [
  { kind: "agent_options", owner, name: "agent_options", value: null },
  { kind: "enroll_secrets", owner, name: "enroll_secrets", value: { secrets: [] } },
];

/** Teams of the server that the files do not name. */
export const otherTeams = (things: readonly Thing[], wanted: readonly Thing[]): string[] => {
  const named = teamsOf(wanted);
  return [...teamsOf(things)].filter((name) => !named.has(name)).sort();
};

/** What is part of its scope is there as soon as that is. */
export const toThingChange = ({ action, kind, owner, name, value }: Change): ThingChange => ({
  action: deletable.has(kind) ? action : "update",
  kind,
  owner,
  name,
  ...(action === "delete" ? {} : { value: value as ThingChange["value"] }),
});

const revisionPin = ({ kind, owner, name, revision }: StateThing): Pin => ({ kind, owner, name, revision });
const absentPin = ({ kind, owner, name }: Change): Pin => ({ kind, owner, name, revision: null });

/** What must still be as it was read: what is changed, or all of it. */
export function pinsOf(things: readonly StateThing[], changes: readonly Change[], all: boolean): Pin[] {
  const touched = new Set(changes.map(keyOf));
  return [
    ...things.filter((thing) => all || touched.has(keyOf(thing))).map(revisionPin),
    ...changes.filter(({ action, kind }) => action === "create" && deletable.has(kind)).map(absentPin),
  ];
}

/** The secrets that the changes refer to: no others are sent or kept. */
export function secretsOf(changes: readonly Change[], known: ReadonlyMap<string, string>): Record<string, string> {
  const used: Record<string, string> = {};
  const walk = (value: Json): void => {
    if (isSecretRef(value)) {
      const text = known.get(value.$secret);
      if (text !== undefined) used[value.$secret] = text;
    } else if (Array.isArray(value)) value.forEach(walk);
    else if (isRecord(value)) Object.values(value).forEach(walk);
  };
  for (const { value } of changes) walk(value);
  return used;
}
