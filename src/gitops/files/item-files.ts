// Lists in sections whose items are files that hosts get, such as configuration profiles.
import { createHash } from "node:crypto";
import { basename } from "node:path";
import { textOfUtf8 } from "../../text/utf8.ts";
import { isServerVariable } from "../environment/variables.ts";
import type { SectionName } from "../schema/sections.ts";
import { filesNamed, type Item, type ItemList, readBytes, type Sources, shownAs } from "./include.ts";
import type { Place } from "./problems.ts";
import {
  customVariablesIn,
  otherVariablesIn,
  placesIn,
  substitute,
  takeVariable,
  type UsedVariable,
} from "./substitute.ts";
import { type Entry, type Mapping, plain, type Tree, textIn } from "./tree.ts";

export interface ItemFiles {
  readonly section: SectionName;
  /** The keys from the section to the list, each with its newer spelling. */
  readonly keys: readonly (readonly [older: string, newer: string])[];
  readonly extensions: readonly string[];
  /** `$NAME` means something else in these files: only the custom variables of the server are known in them. */
  readonly isVerbatim?: true;
  /** The server stores Windows line ends as those of Unix. */
  readonly hasUnixLines?: true;
  /** The key has the path of one file, instead of a list. */
  readonly isSingle?: true;
  /** Added to the values of the items. */
  readonly adds: Readonly<Record<string, string>>;
  /** Keys of an item that name other files, whose digests are added as `KEY_sha256`. */
  readonly beside?: Readonly<Record<string, readonly string[]>>;
  /** Added to the value of the item of this file. */
  more?(path: string): Readonly<Record<string, string>>;
  /** The name of the object. `listedName` is its name in the list, if there is one. Throws an error with the reason. */
  nameOf(path: string, content: Buffer, listedName: string | null): Promise<string>;
}

/** The items of all these lists. Null if there is none. What has another form is reported when the section is checked. */
export async function readItemFiles(
  sectionOf: (name: SectionName) => { readonly tree: Tree | null; readonly file: string } | undefined,
  all: readonly ItemFiles[],
  sources: Sources,
): Promise<ItemList | null> {
  const lists: ItemList[] = [];
  for (const files of all) {
    const section = sectionOf(files.section);
    const list = section ? await readList(section, files, sources) : null;
    if (list) lists.push(list);
  }
  const [first] = lists;
  return first ? { ...first, items: lists.flatMap(({ items }) => items) } : null;
}

async function readList(
  { tree, file }: { readonly tree: Tree | null; readonly file: string },
  files: ItemFiles,
  sources: Sources,
): Promise<ItemList | null> {
  const list = listIn(tree, files);
  if (files.isSingle) return list && readOne(list, file, files, sources);
  if (list?.entry.value.kind !== "list") return null;
  const items: Item[] = [];
  for (const [index, item] of list.entry.value.items.entries())
    if (item.kind === "map")
      items.push(
        ...(await itemsOf(item, file, files, sources)).map((match) => ({ ...match, index, called: list.called })),
      );
  return { items, key: list.entry.key, called: list.called };
}

/** A key with a path, in place of a list. */
async function readOne(
  { entry, called }: { readonly entry: Entry; readonly called: string },
  file: string,
  files: ItemFiles,
  sources: Sources,
): Promise<ItemList> {
  const { key, value } = entry;
  const isGiven = value.kind === "leaf" && typeof value.value === "string" && value.value.trim() !== "";
  const item: Mapping = { kind: "map", entries: new Map([["path", entry]]), at: value.at };
  const items = isGiven ? await itemsOf(item, file, files, sources) : [];
  return { items: items.map((match) => ({ ...match, called })), key, called };
}

function listIn(tree: Tree | null, { section, keys }: ItemFiles): { entry: Entry; called: string } | null {
  let at: Entry | undefined;
  const called: string[] = [section];
  for (const spellings of keys) {
    const inner: Tree | null | undefined = at ? at.value : tree;
    const key = inner?.kind === "map" ? spellings.find((spelling) => inner.entries.has(spelling)) : undefined;
    if (inner?.kind !== "map" || key === undefined) return null;
    at = inner.entries.get(key)!;
    called.push(key);
  }
  return at ? { entry: at, called: called.join(".") } : null;
}

async function itemsOf(item: Mapping, file: string, files: ItemFiles, sources: Sources): Promise<Item[]> {
  if (!item.entries.has("path") && !item.entries.has("paths")) return [];
  const { extensions } = files;
  const named = item.entries.get("display_name");
  const listedName = textIn(named?.value)?.trim() || null;
  const items: Item[] = [];
  const beside = await besideOf(item, file, files, sources);
  for (const { path, named: at } of await filesNamed(item, file, { matched: extensions, named: extensions }, sources)) {
    const bytes = await readBytes(path, at, sources);
    if (bytes === null) continue;
    const { content: whole, variables } = withVariables(
      files.isVerbatim ? withoutMark(bytes, path, at, sources) : bytes,
      path,
      files,
      sources,
    );
    const content = files.hasUnixLines ? Buffer.from((textOfBytes(whole) ?? "").replaceAll("\r\n", "\n")) : whole;
    try {
      const name = await files.nameOf(path, content, listedName);
      // A name in the file may contain a value in another spelling.
      const before = variables.length > 0 ? await files.nameOf(path, bytes, listedName).catch(() => null) : name;
      if (before !== name) sources.environment.masks.addDerived(variables, name);
      const sha256 = keptDigest({ content, variables }, sources);
      items.push({
        tree: item,
        file: path,
        fileFields: { ...files.adds, ...files.more?.(path), ...beside, name: name.trim(), sha256 },
      });
    } catch (error) {
      const shown = shownAs(path, sources);
      sources.problems.error(at, `${shown}: ${sources.problems.about(shown, (error as Error).message)}`);
    }
  }
  return items;
}

const MARK = Buffer.from("\ufeff");

/**
 * A script without the byte order mark at its beginning, which hides the line that names its program. PowerShell scripts
 * keep it: Windows reads their encoding from it.
 */
export function withoutMark(bytes: Buffer, path: string, at: Place, { problems }: Pick<Sources, "problems">): Buffer {
  if (path.toLowerCase().endsWith(".ps1") || !bytes.subarray(0, MARK.length).equals(MARK)) return bytes;
  problems.warn(
    at,
    `${basename(path)} begins with a byte order mark, which is left out: hosts could not run the script`,
  );
  return bytes.subarray(MARK.length);
}

async function besideOf(item: Mapping, file: string, files: ItemFiles, sources: Sources) {
  const digests: Record<string, string> = {};
  for (const [key, extensions] of Object.entries(files.beside ?? {})) {
    const entry = item.entries.get(key);
    if (entry === undefined || plain(entry.value) === null) continue;
    const named = { ...item, entries: new Map([["path", entry]]) };
    const [namedFile] = await filesNamed(named, file, { matched: extensions, named: extensions }, sources);
    const bytes = namedFile && (await readBytes(namedFile.path, namedFile.named, sources));
    if (!bytes) continue;
    digests[`${key}_sha256`] = keptDigest(withVariables(bytes, namedFile.path, files, sources), sources);
  }
  return digests;
}

interface FilledContent {
  readonly content: Buffer;
  /** Variables whose values the content contains. */
  readonly variables: readonly UsedVariable[];
}

/** Signed and binary files have no variables. */
function withVariables(bytes: Buffer, path: string, { isVerbatim }: ItemFiles, sources: Sources): FilledContent {
  const text = textOfBytes(bytes);
  if (text === null) return { content: bytes, variables: [] };
  const { environment, problems } = sources;
  const file = shownAs(path, sources);
  takeVariables(text, file, sources, isVerbatim === true);
  if (isVerbatim) return { content: bytes, variables: [] };
  const { text: replaced, used } = substitute(text, file, environment, problems, isServerVariable);
  return { content: Buffer.from(replaced), variables: used };
}

/** A digest helps to guess what the file contains beside its known text. */
function keptDigest({ content, variables }: FilledContent, { contents, environment }: Sources): string {
  const sha256 = createHash("sha256").update(content).digest("hex");
  contents.set(sha256, content);
  if (variables.length > 0) environment.masks.addDerived(variables, sha256);
  return sha256;
}

/** The text keeps the names of custom variables; their values are sent beside it. */
export function takeVariables(text: string, file: string, sources: Sources, isVerbatim = true): void {
  const place = placesIn(text, file);
  for (const { name, offset } of customVariablesIn(text)) takeVariable(name, place(offset), sources);
  for (const { name, other, offset } of isVerbatim ? otherVariablesIn(text) : [])
    sources.problems.warn(place(offset), `$${name} stays as it is: what the server fills in is called ${other} here`);
}

/** Null if it is not text. */
export function textOfBytes(bytes: Uint8Array): string | null {
  if (Buffer.from(bytes.subarray(0, 8)).toString("latin1") === "bplist00") return null;
  return textOfUtf8(bytes);
}
