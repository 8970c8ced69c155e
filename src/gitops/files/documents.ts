// The older format: documents of {apiVersion, kind, spec}. Objects that are not in them stay as they are.

import { basename } from "node:path";
import { NO_TEAM_NAME } from "../../api/settings/no-team.ts";
import { nearest } from "../../text/nearest.ts";
import { itemKinds, kindList, listKinds } from "../kinds.ts";
import type { Owner } from "../plan/diff.ts";
import type { CheckOptions } from "./check.ts";
import { type CollectedItems, checkUniqueNames, link, type PlacedItem, placed } from "./collect.ts";
import { absolute, packNameOf, readSource, type Sources, shownAs } from "./include.ts";
import { isPackFile, type OsqueryPack, readPack } from "./osquery-pack.ts";
import { type Place, startOf } from "./problems.ts";
import type { SecretTexts } from "./secrets.ts";
import { type Reading, type Spec, teamNameOf } from "./spec.ts";
import { type Mapping, parseTrees, type Tree, textIn } from "./tree.ts";

export interface Documents {
  readonly specs: readonly Spec[];
  readonly items: CollectedItems;
}

type ItemKind = (typeof itemKinds)[number];
const ofItems = new Map(listKinds.map((list): [string, ItemKind] => [list.kind, list]));
const ofSettings = new Map(kindList.flatMap(([, { document }]) => (document ? [[document.kind, document]] : [])));
/** Documents that other systems of this format know. */
const refused: Readonly<Record<string, string>> = {
  user_roles: "users cannot be managed with files",
};
const documentKinds: readonly string[] = [...ofSettings.keys(), ...ofItems.keys(), ...Object.keys(refused)].sort();

/** Keys that no file of the newer format has. */
const isOlder = (text: string): boolean => /^["']?(apiVersion|kind)["']?[ \t]*:/m.test(text);

/** The documents, if the files have the older format; otherwise null. */
export async function readDocuments(
  paths: readonly string[],
  sources: Sources,
  secrets: SecretTexts,
  options: CheckOptions,
): Promise<Documents | null> {
  const texts = new Map<string, string>();
  for (const path of paths) {
    if (basename(path).trim() === "") continue;
    const whole = absolute(path, sources);
    // Unreadable files are reported later, when all files are read.
    const text = await readSource(whole, startOf(shownAs(whole, sources)), sources);
    if (text !== null) texts.set(whole, text);
  }
  const older = [...texts].filter(([path, text]) => isPackFile(path) || isOlder(text));
  if (older.length === 0) {
    for (const [path, text] of texts) sources.texts.set(path, text);
    return null;
  }
  for (const [path, text] of texts)
    if (!isPackFile(path) && !isOlder(text))
      options.problems.error(
        startOf(shownAs(path, sources)),
        `packs and documents with apiVersion and kind, as in ${shownAs(older[0]![0], sources)}, cannot be mixed with this file`,
      );
  const reader = new DocumentReader(secrets, options);
  for (const [path, text] of older) {
    const shown = shownAs(path, sources);
    const pack = isPackFile(path) ? readPack(text, shown, packNameOf(path), sources) : undefined;
    if (pack !== undefined) reader.addPack(pack);
    else
      for (const tree of parseTrees(text, shown, { ...sources, problems: options.problems }))
        if (tree) reader.read(tree);
  }
  return reader.done();
}

class DocumentReader {
  readonly #specs: Spec[] = [];
  readonly #items = new Map<string, PlacedItem<{ readonly name: string }>[]>(itemKinds.map(({ kind }) => [kind, []]));
  readonly #first = new Map<string, Place>();
  readonly #reading: Reading;
  readonly #options: CheckOptions;

  constructor(secrets: SecretTexts, options: CheckOptions) {
    this.#reading = { secrets, options };
    this.#options = options;
  }

  read(document: Tree): void {
    const { problems } = this.#options;
    if (document.kind !== "map") {
      problems.error(document.at, "a document must be an object with apiVersion, kind and spec");
      return;
    }
    for (const [key, { key: at }] of document.entries)
      if (!["apiVersion", "kind", "spec"].includes(key)) problems.error(at, `unknown key ${key}`);
    const kind = this.#kindOf(document);
    const spec = document.entries.get("spec")?.value;
    if (spec?.kind !== "map") problems.error(spec?.at ?? document.at, "spec is missing: it must be an object");
    else if (kind && Object.hasOwn(refused, kind)) problems.error(spec.at, refused[kind]!);
    else if (kind) this.#add(kind, spec);
  }

  addPack(pack: OsqueryPack | null): void {
    if (pack === null) return;
    for (const list of listKinds) {
      const { inPacks } = list.items;
      const trees = inPacks === "content" ? pack.queries : inPacks === "discovery" && pack.label ? [pack.label] : [];
      for (const tree of trees) this.#item(list, tree as Mapping);
    }
  }

  #kindOf(document: Mapping): string | null {
    const { problems } = this.#options;
    const entry = document.entries.get("kind");
    const text = textIn(entry?.value) ?? "";
    if (documentKinds.includes(text.toLowerCase())) return text.toLowerCase();
    const near = nearest(text.toLowerCase(), documentKinds);
    if (text === "")
      problems.error(entry?.key ?? document.at, `kind is missing: it is one of ${documentKinds.join(", ")}`);
    else problems.error(entry!.value.at, `unknown kind ${text}${near ? `; did you mean ${near}?` : ""}`);
    return null;
  }

  #add(kind: string, spec: Mapping): void {
    const { problems } = this.#options;
    const item = ofItems.get(kind);
    const document = ofSettings.get(kind);
    if (item) this.#item(item, spec);
    if (!document) return;
    const before = this.#first.get(kind);
    if (document.isSingle && before)
      problems.error(spec.at, `there is already a ${kind} in ${before.file}:${before.line}: only one is allowed`);
    this.#first.set(kind, before ?? spec.at);
    const read = document.read(spec, this.#reading);
    if (read) this.#specs.push(read);
  }

  #item(list: ItemKind, spec: Mapping): void {
    const isOfTeam = list.items.notIn?.team === undefined;
    const fields = without(spec, [...(isOfTeam ? ["team"] : []), ...(list.items.ignoredInDocuments ?? [])]);
    this.#items
      .get(list.kind)!
      .push(...placed(list, { tree: fields }, "spec", isOfTeam ? this.#ownerOf(spec) : null, this.#options));
  }

  #ownerOf(spec: Mapping): Owner {
    const entry = spec.entries.get("team")?.value;
    const name = teamNameOf(textIn(entry) ?? "");
    if (entry && entry.kind !== "leaf") this.#options.problems.error(entry.at, "team must be the name of a team");
    return name === "" ? null : name.toLowerCase() === NO_TEAM_NAME.toLowerCase() ? NO_TEAM_NAME : name;
  }

  done(): Documents {
    checkUniqueNames(this.#items, this.#options);
    const items = new Map<string, readonly PlacedItem<{ readonly name: string }>[]>(this.#items);
    link(items, this.#options);
    return { specs: this.#specs, items };
  }
}

const without = (tree: Mapping, keys: readonly string[]): Mapping => ({
  ...tree,
  entries: new Map([...tree.entries].filter(([key]) => !keys.includes(key))),
});
