// What a plan destroys besides the objects that it removes: hosts lose their team, and renamed objects their results.
import type { ConfigurationState } from "../../api/edge/configuration.ts";
import { isSame, type Json } from "../../text/differences.ts";
import { isRecord } from "../../text/record.ts";
import { kinds } from "../kinds.ts";
import { type Change, keyOf, type Thing } from "./diff.ts";

type State = Pick<ConfigurationState, "things" | "team_hosts">;

/** The changes with the hosts that lose their team, and with notes about objects that are renamed. */
export function withConsequences(changes: readonly Change[], { things, team_hosts = [] }: State): Change[] {
  const before = new Map((things as readonly Thing[]).map((thing) => [keyOf(thing), thing.value]));
  const leaving = new Map(team_hosts.map(({ team, count, hosts }) => [team, { count, names: hosts }]));
  const renamed = renamedFrom(changes, before);
  return changes.map((change) => {
    const hosts = change.kind === "team" && change.action === "delete" ? leaving.get(change.name) : undefined;
    const former = renamed.get(change);
    return {
      ...change,
      ...(hosts === undefined ? {} : { hosts }),
      ...(former === undefined ? {} : { note: noteOf(change, former) }),
    };
  });
}

function noteOf({ kind, name }: Change, former: string): string {
  const { noun, renamed } = kinds[kind]!;
  const command = `${renamed!.command} ${JSON.stringify(former)} --name ${JSON.stringify(name)}`;
  return `${noun} ${JSON.stringify(former)} with the same SQL is removed, and ${renamed!.lost}. If it only has another name, rename it on the server first: ${command}`;
}

/** New objects that are like removed ones, with the names of these. */
function renamedFrom(changes: readonly Change[], before: ReadonlyMap<string, Json>): Map<Change, string> {
  const gone = changes.filter(({ action, kind }) => action === "delete" && kinds[kind]?.renamed);
  const renames = new Map<Change, string>();
  const used = new Set<Change>();
  for (const change of changes) {
    const by = kinds[change.kind]?.renamed?.by;
    if (change.action !== "create" || by === undefined) continue;
    const former = gone.find(
      (candidate) =>
        !used.has(candidate) &&
        candidate.kind === change.kind &&
        candidate.owner === change.owner &&
        isAlike(before.get(keyOf(candidate)), change.value, by),
    );
    if (former === undefined) continue;
    used.add(former);
    renames.set(change, former.name);
  }
  return renames;
}

function isAlike(former: Json | undefined, value: Json, by: (value: Fields) => readonly unknown[]): boolean {
  if (!isRecord(former) || !isRecord(value)) return false;
  const [before, after] = [by(former), by(value)] as Json[][];
  return Boolean(after![0]) && isSame(before, after);
}

type Fields = { readonly [key: string]: unknown };

export const hostsLosingTeam = (changes: readonly Change[]): number =>
  changes.reduce((sum, { hosts }) => sum + (hosts?.count ?? 0), 0);
