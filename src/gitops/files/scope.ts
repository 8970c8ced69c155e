// The main files: which kind each one is, and its sections with everything that they include.
import { basename } from "node:path";
import { nearest } from "../../text/nearest.ts";
import { itemKinds, kindList, listKinds, softwareLists } from "../kinds.ts";
import { type ScopeKind, type SectionName, sectionNames } from "../schema/sections.ts";
import { ownerOf } from "./collect.ts";
import { absolute, type ItemList, listItems, readTree, type Sources, section, shownAs } from "./include.ts";
import { readItemFiles } from "./item-files.ts";
import { listKey, listsOf, type Place, startOf } from "./problems.ts";
import { type NamedFile, readSectionFile } from "./section-files.ts";
import { checkSoftwareKeys, readSoftware } from "./software.ts";
import { type Entry, type Mapping, shownKey, type Tree, textIn } from "./tree.ts";
import { readYaraRules, type YaraText } from "./yara.ts";

export interface Section {
  /** Null if the section is given but empty. */
  readonly tree: Tree | null;
  /** The file that paths in it are relative to. */
  readonly file: string;
  readonly key: Place;
  /** The key as spelled in the file. */
  readonly called: string;
}

/** One parsed main file. Sections that are not in the file are absent here. */
export interface Scope {
  readonly kind: ScopeKind;
  /** The path as shown to the user. */
  readonly file: string;
  /** The team's name; null in the global file. */
  readonly name: string | null;
  readonly nameAt: Place;
  readonly sections: Readonly<Partial<Record<SectionName, Section>>>;
  readonly lists: Readonly<Partial<Record<string, ItemList>>>;
  /** By kind: the files that sections name. */
  readonly named: Readonly<Partial<Record<string, NamedFile>>>;
  readonly software: Entry | null;
  /** From org_settings, with the texts of the files that it names. */
  readonly yaraRules: readonly YaraText[];
}

/** Newer spellings, and the names that are used for them in this code. */
export const spellings: Readonly<Record<string, string>> = {
  settings: "team_settings",
  ...Object.fromEntries(
    listKinds.flatMap(({ items: { list, newer } }) => (newer === undefined ? [] : [[newer, list]])),
  ),
};
export const topLevelKeys: readonly string[] = [
  "name",
  "software",
  ...sectionNames,
  ...listKinds.map(({ items }) => items.list),
  ...Object.keys(spellings),
];
const NO_TEAM: Readonly<Record<string, string>> = { "no team": "no-team.yml", unassigned: "unassigned.yml" };

/** Reads one main file; returns null if the rest of it cannot be read. */
async function readScope(path: string, sources: Sources): Promise<Scope | null> {
  const { problems } = sources;
  const whole = absolute(path, sources);
  const shown = shownAs(whole, sources);
  const root = await readTree(whole, startOf(shown), sources);
  if (root === null) {
    // A file that was emptied by mistake must not pass for one that asks for nothing.
    if (sources.trees.has(whole) && !problems.all.some(({ file }) => file === shown))
      problems.error(startOf(shown), "the file is empty: add org_settings or name, or do not pass the file");
    return null;
  }
  if (root.kind !== "map") {
    problems.error(root.at, "the file must be an object with org_settings or name");
    return null;
  }
  const entries = topLevel(root, sources);
  const identity = identify(entries, root, shown, sources);
  if (identity === null) return null;
  noteEmptyKeys(entries, root, identity.kind, sources);
  const owner = ownerOf(identity);
  const sections: Partial<Record<SectionName, Section>> = {};
  for (const name of sectionNames) {
    const entry = entries.get(name);
    if (!entry) continue;
    const body = await section(entry, whole, sources);
    if (body) sections[name] = { ...body, key: entry.key, called: calledIn(root, name) };
  }
  const lists: Partial<Record<string, ItemList>> = {};
  for (const { kind, items } of listKinds) {
    const entry = entries.get(items.list);
    if (!entry) continue;
    const called = calledIn(root, items.list);
    const listed = await listItems(entry.value, whole, called, sources, items.inPacks === "content");
    lists[kind] = { items: listed, key: entry.key, called };
  }
  addLabels(lists, identity.kind, sources);
  for (const { kind, items } of itemKinds) {
    const { files } = items;
    const list = files
      ? await problems.reading(listKey(kind, owner), () => readItemFiles((name) => sections[name], files, sources))
      : null;
    if (list) lists[kind] = list;
  }
  const named: Partial<Record<string, NamedFile>> = {};
  for (const [kind, { file }] of kindList) {
    const namedFile = file ? await readSectionFile((name) => sections[name], file, sources) : null;
    if (namedFile) named[kind] = namedFile;
  }
  const software = identity.kind === "global" ? undefined : entries.get("software");
  if (software) {
    const keys = softwareLists.flatMap(([, kindLists]) => kindLists.map(({ key }) => key));
    checkSoftwareKeys(software, keys, sources);
    for (const [kind, kindLists] of softwareLists) {
      const list = await problems.reading(listKey(kind, owner), () =>
        readSoftware(software, whole, kindLists, sources),
      );
      if (list) lists[kind] = list;
    }
  }
  const org = sections.org_settings;
  const yaraRules = org ? await readYaraRules(org, sources) : [];
  return { ...identity, file: shown, sections, lists, named, software: entries.get("software") ?? null, yaraRules };
}

/** A key without a value may be left of something that was removed by mistake. */
function noteEmptyKeys(
  entries: ReadonlyMap<string, Entry>,
  root: Mapping,
  file: ScopeKind,
  { problems }: Sources,
): void {
  for (const [name, { key, value }] of entries) {
    if (name === "name" || value.kind !== "leaf" || value.value !== null) continue;
    // The owner of controls is checked when all files are read.
    if (name === "controls" && file !== "team") continue;
    const list = listKinds.find(({ items }) => items.list === name);
    const isDeleted = name === "software" ? file !== "global" : list !== undefined && list.items.isOfAllFiles !== true;
    const effect = isDeleted ? "what the server has of it is deleted" : "the defaults apply";
    problems.warn(
      key,
      `${calledIn(root, name)} is empty: it counts as present without values, and ${list?.items.isOfAllFiles ? "changes nothing" : effect}`,
    );
  }
}

const ofDiscovery = listKinds.find(({ items }) => items.inPacks === "discovery")!;

/** The labels that come with packs. */
function addLabels(lists: Partial<Record<string, ItemList>>, kind: ScopeKind, { problems }: Sources): void {
  for (const list of Object.values(lists))
    for (const { label, file } of list?.items ?? []) {
      if (label === undefined) continue;
      if (kind !== "global")
        problems.error(
          label.at,
          "packs with discovery must be in the global file: it becomes a label, which is for all teams",
        );
      else {
        const { items, key, called } = lists[ofDiscovery.kind] ?? {
          items: [],
          key: list!.key,
          called: ofDiscovery.items.list,
        };
        lists[ofDiscovery.kind] = { items: [...items, { tree: label, file }], key, called };
      }
    }
}

const calledIn = ({ entries }: Mapping, name: string): string =>
  Object.keys(spellings).find((newer) => spellings[newer] === name && entries.has(newer)) ?? name;

/** The entries under the names that are used in this code. */
function topLevel({ entries }: Mapping, { problems }: Sources): Map<string, Entry> {
  const byName = new Map<string, Entry>();
  for (const [key, entry] of entries) {
    if (topLevelKeys.includes(key)) byName.set(key, entry);
    else {
      const near = entry.isHidden ? undefined : nearest(key, topLevelKeys);
      problems.error(entry.key, `unknown key ${shownKey(key, entry)}${near ? `; did you mean ${near}?` : ""}`);
    }
  }
  for (const [newer, older] of Object.entries(spellings)) {
    const both = [byName.get(newer), byName.get(older)];
    if (both[0] && both[1])
      problems.error(both[1].key, `${older} and ${newer} are the same setting: give only one of them`);
    else if (both[1]) problems.warn(both[1].key, `${older} is an older name of ${newer}`);
    if (both[0]) byName.set(older, both[0]);
    byName.delete(newer);
  }
  return byName;
}

function identify(
  entries: ReadonlyMap<string, Entry>,
  root: Mapping,
  shown: string,
  { problems }: Sources,
): Pick<Scope, "kind" | "name" | "nameAt"> | null {
  const org = entries.get("org_settings");
  const named = entries.get("name");
  if (org) {
    for (const key of ["name", "team_settings"] as const)
      if (entries.has(key)) problems.error(entries.get(key)!.key, `${key} cannot be used together with org_settings`);
    return { kind: "global", name: null, nameAt: org.key };
  }
  if (!named) {
    problems.error(root.at, "the file needs org_settings (the global file) or name (a team's)");
    return null;
  }
  const { value } = named;
  const name = (textIn(value) ?? "").normalize("NFC").trim();
  if (name === "") {
    problems.error(value.at, "name must be the name of a team");
    return null;
  }
  if (name.toLowerCase() === "all teams") {
    problems.error(value.at, `${name} is not the name of a team`);
    return null;
  }
  const file = NO_TEAM[name.toLowerCase()];
  if (file === undefined) return { kind: "team", name, nameAt: value.at };
  if (basename(shown) !== file) {
    problems.error(value.at, `the file for ${name} must be called ${file}`);
    return null;
  }
  return { kind: "no_team", name, nameAt: value.at };
}

/** Reads all main files, and checks the rules between them. */
export async function readScopes(paths: readonly string[], sources: Sources): Promise<Scope[]> {
  const { problems } = sources;
  const scopes: Scope[] = [];
  for (const path of paths) {
    if (basename(path).trim() === "" || basename(path).length > 255) {
      problems.error(startOf(path.trim() === "" ? "-f" : path), "the file name must have 1 to 255 characters");
      continue;
    }
    const scope = await readScope(path, sources);
    if (scope) scopes.push(scope);
  }
  const [first, ...others] = scopes.filter(({ kind }) => kind === "global");
  for (const { nameAt } of others) {
    problems.error(nameAt, `there is another global file: ${first!.file}`);
    problems.markIncomplete(listsOf(null));
  }
  const [noTeam, ...more] = scopes.filter(({ kind }) => kind === "no_team");
  for (const scope of more) {
    problems.error(scope.nameAt, `there is another file for hosts without a team: ${noTeam!.file}`);
    problems.markIncomplete(listsOf(ownerOf(scope)));
  }
  if (noTeam && !first)
    problems.error(noTeam.nameAt, "the file for hosts without a team needs the global file in the same run");
  uniqueTeams(scopes, sources);
  if (first) oneControls(first, noTeam, sources);
  return scopes;
}

function uniqueTeams(scopes: readonly Scope[], { problems }: Sources): void {
  const seen = new Map<string, Scope>();
  for (const scope of scopes) {
    if (scope.kind !== "team") continue;
    const key = scope.name!.toLowerCase();
    const before = seen.get(key);
    if (!before) seen.set(key, scope);
    else {
      problems.error(
        scope.nameAt,
        `team ${scope.name} is also in ${before.file} (names of teams must differ in more than letter case)`,
      );
      problems.markIncomplete(listsOf(scope.name));
    }
  }
}

/** At most one of the global file and the no-team file has values for hosts without a team; in neither, the defaults apply. */
function oneControls(first: Scope, noTeam: Scope | undefined, { problems }: Sources): void {
  const controls = [first, noTeam].flatMap((scope) => scope?.sections.controls ?? []);
  const isEmpty = ({ tree }: Section) => tree === null || (tree.kind === "leaf" && tree.value === null);
  for (const section of controls.filter(isEmpty))
    problems.warn(section.key, "controls is empty: the defaults apply, and nothing is kept that controls could list");
  const [, second] = controls.filter((section) => !isEmpty(section));
  if (second) problems.error(second.key, `controls are also in ${first.file}: only one of the two files may have them`);
}
