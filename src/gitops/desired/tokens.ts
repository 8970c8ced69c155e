// What the kinds of tokens have in common: an administrator adds the tokens, files only name their teams.
import type { ThingKey } from "../../api/edge/configuration.ts";
import { isRecord } from "../../text/record.ts";
import type { Place } from "../files/problems.ts";
import { placeOf } from "../files/tree.ts";
import type { Thing } from "../plan/diff.ts";
import { type Run, teamsAfter } from "./run.ts";
import { thing } from "./values.ts";

interface Tokens<T> {
  readonly kind: ThingKey["kind"];
  readonly noun: string;
  /** The key of the list in org_settings.mdm, in both spellings. */
  readonly keys: readonly string[];
  /** The field that names the token. */
  readonly by: keyof T & string;
  readonly none: object;
}

/** The list in org_settings.mdm. */
export const listIn = <T>({ global }: Run, key: string): readonly T[] => {
  const mdm = global?.values.settings?.mdm;
  const list = isRecord(mdm) ? mdm[key] : undefined;
  return Array.isArray(list) ? (list as T[]) : [];
};

/** Every token of the server, with the teams that the files give it, or none. Problems with the files are reported. */
export function tokensOf<T extends object>(
  run: Run,
  tokens: readonly T[],
  { kind, noun, keys, by, none }: Tokens<T>,
): Thing[] {
  if (!run.global) return [];
  const present = run.current.namesOf(kind);
  const tokensByName = new Map<string, T>();
  for (const [i, token] of tokens.entries()) {
    const name = String(token[by]);
    const at = placeIn(run, keys, [String(i), by]);
    if (tokensByName.has(name)) run.problems.error(at, `the ${noun} ${JSON.stringify(name)} is given twice`);
    else if (!present.includes(name))
      run.problems.error(at, `the server has no ${noun} ${JSON.stringify(name)}: an administrator has to add it first`);
    tokensByName.set(name, token);
  }
  return present.map((name) => {
    const { [by]: _name, ...value } = { ...none, ...tokensByName.get(name) } as Record<string, unknown>;
    return thing(kind, null, value, name);
  });
}

/** Reports names of teams that will not exist after the run. */
export function checkTeams(run: Run, names: readonly string[], at: Place): void {
  const teams = teamsAfter(run);
  for (const name of names)
    if (!teams.has(name)) run.problems.error(at, `the team ${JSON.stringify(name)} will not exist`);
}

export function placeIn({ global }: Run, keys: readonly string[], path: readonly string[]): Place {
  const tree = global?.sections.org_settings?.tree;
  if (!tree) return global!.nameAt;
  const places = keys.map((key) => placeOf(tree, ["mdm", key, ...path]));
  const whole = placeOf(tree, ["mdm"]);
  return places.find(({ line, column }) => line !== whole.line || column !== whole.column) ?? whole;
}
