// The lists of `software` in files of teams, with the files that their items name.
import { createHash } from "node:crypto";
import { basename, dirname, extname, resolve } from "node:path";
import type { z } from "zod";
import { fieldNames } from "../../api/plain-fields.ts";
import { packageFields, packageTexts } from "../../api/software/packages.ts";
import { nearest } from "../../text/nearest.ts";
import { isRecord } from "../../text/record.ts";
import { otherName } from "../schema/other-names.ts";
import { type Item, type ItemList, readBytes, readTree, type Sources, shownAs } from "./include.ts";
import { takeVariables, textOfBytes, withoutMark } from "./item-files.ts";
import type { Place } from "./problems.ts";
import { type Entry, type Mapping, plain, shownKey, type Tree } from "./tree.ts";
import { valueFor } from "./written.ts";

const YAML = [".yml", ".yaml"];
const SCRIPTS = [".sh", ".py", ".ps1"];
const QUERY = "pre_install_query";
/** The field of items that is an image. */
const ICON = "icon";
/** What may stand beside the path of a file with packages. */
const BESIDE: readonly string[] = [
  "path",
  ...fieldNames(packageFields),
  "categories",
  "labels_include_all",
  "labels_include_any",
  "labels_exclude_any",
  "setup_experience",
  "setup_experience_platform",
  "configuration",
];

/** A list in the section `software` of teams. */
export interface SoftwareList {
  readonly key: string;
  readonly schema: z.ZodType;
  /** Items may be in files of their own, or scripts. */
  readonly hasPaths?: true;
  /** The name of the object. Empty if the item does not match the schema. */
  nameOf(fields: Readonly<Record<string, unknown>>): string;
  /** Added to the value of an item, before what is read from its files. */
  of(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>>;
}

const isText = (tree: Tree | undefined): tree is Tree & { readonly value: string } =>
  tree?.kind === "leaf" && typeof tree.value === "string" && tree.value.trim() !== "";

/** The lists that the file may have. */
export function checkSoftwareKeys({ value }: Entry, keys: readonly string[], { problems }: Sources): void {
  if (value.kind === "leaf" && value.value === null) return;
  if (value.kind !== "map") {
    problems.error(value.at, `software must be an object with ${keys.join(", ")}`);
    return;
  }
  for (const [key, entry] of value.entries) {
    if (keys.includes(key)) continue;
    const other = entry.isHidden ? undefined : otherName(key, keys);
    const near = entry.isHidden ? undefined : nearest(key, keys);
    const hint = other ? `: it is called ${other} here` : near ? `; did you mean ${near}?` : "";
    problems.error(entry.key, `unknown key software.${shownKey(key, entry)}${hint}`);
  }
}

/** The items of these lists. Null if the file has none of them. */
export async function readSoftware(
  { value }: Entry,
  file: string,
  lists: readonly SoftwareList[],
  sources: Sources,
): Promise<ItemList | null> {
  if (value.kind !== "map") return null;
  const items: Item[] = [];
  let key: Place | null = null;
  for (const list of lists) {
    const entry = value.entries.get(list.key);
    if (!entry) continue;
    key ??= entry.key;
    if (entry.value.kind === "leaf" && entry.value.value === null) continue;
    if (entry.value.kind !== "list") sources.problems.error(entry.value.at, `software.${list.key} must be a list`);
    else
      for (const [index, tree] of entry.value.items.entries())
        for (const item of await new Reader(list, sources).read(tree, file))
          items.push({ ...item, index, called: `software.${list.key}`, schema: list.schema });
  }
  return key && { items, key, called: "software" };
}

class Reader {
  readonly #list: SoftwareList;
  readonly #sources: Sources;

  constructor(list: SoftwareList, sources: Sources) {
    this.#list = list;
    this.#sources = sources;
  }

  /** An item of the list; several, if it names a file with packages. */
  async read(tree: Tree, file: string): Promise<Item[]> {
    const path = tree.kind === "map" && this.#list.hasPaths ? tree.entries.get("path")?.value : undefined;
    if (tree.kind !== "map" || !isText(path)) return [await this.#item(tree, file, {})];
    const target = resolve(dirname(file), path.value);
    const extension = extname(target).toLowerCase();
    if (YAML.includes(extension)) return this.#packagesOf(target, path.at, tree);
    if (SCRIPTS.includes(extension)) {
      const sha256 = await this.#storeFile(target, path.at, "file");
      return [await this.#item(tree, file, { name: basename(target), sha256, from: target, isScript: true })];
    }
    const extensions = [...YAML, ...SCRIPTS].join(", ");
    this.#sources.problems.error(path.at, `${path.value}: unsupported extension, it must be one of ${extensions}`);
    return [];
  }

  async #packagesOf(file: string, named: Place, beside: Mapping): Promise<Item[]> {
    const { problems } = this.#sources;
    const tree = await readTree(file, named, this.#sources);
    if (tree === null) return [];
    const packages = tree.kind === "list" ? tree.items : [tree];
    for (const [key, { key: at }] of beside.entries) {
      if (!BESIDE.includes(key)) problems.error(at, `${key} cannot be used with path: write it into the file`);
      else if (packages.length > 1 && key !== "path" && !key.startsWith("setup_experience"))
        problems.error(at, `${key} cannot be used with a file with several packages: write it to each of them`);
    }
    const items: Item[] = [];
    for (const node of packages) {
      if (node.kind !== "map") {
        problems.error(node.at, "a package must be an object");
        continue;
      }
      if (node.entries.has("path"))
        problems.error(node.entries.get("path")!.key, "nested paths: an included file cannot include another by path");
      items.push(await this.#item(this.#merged(node, beside), file, { from: file }));
    }
    return items;
  }

  #merged(item: Mapping, beside: Mapping): Mapping {
    const entries = new Map(item.entries);
    for (const [key, entry] of beside.entries) {
      if (key === "path" || !BESIDE.includes(key)) continue;
      const before = entries.get(key);
      if (before)
        this.#sources.problems.error(
          entry.key,
          `${key} is also in ${before.key.file}:${before.key.line}: give it once`,
        );
      else entries.set(key, entry);
    }
    return { ...item, entries };
  }

  async #item(tree: Tree, file: string, fileFields: Readonly<Record<string, unknown>>): Promise<Item> {
    const texts: Record<string, string> = {};
    for (const key of [...packageTexts, ICON]) {
      const path = tree.kind === "map" ? tree.entries.get(key)?.value : undefined;
      const inner = path?.kind === "map" ? path.entries.get("path")?.value : undefined;
      if (!isText(inner)) continue;
      if (key === ICON) {
        texts[key] = await this.#image(resolve(dirname(file), inner.value), inner.at);
        continue;
      }
      const target = resolve(dirname(file), inner.value);
      const isYaml = key === QUERY && YAML.includes(extname(target).toLowerCase());
      texts[key] = isYaml
        ? await this.#queryOf(target, inner.at)
        : await this.#storeFile(
            target,
            inner.at,
            key === QUERY ? "query" : key === "configuration" ? "file" : "script",
          );
    }
    const itemValue = valueFor(this.#list.schema, tree, this.#sources.problems);
    const name = isRecord(itemValue) ? this.#list.nameOf(itemValue) : "";
    return {
      tree,
      file,
      fileFields: { name, sha256: "", ...this.#list.of(isRecord(itemValue) ? itemValue : {}), ...texts, ...fileFields },
    };
  }

  /** A query of a YAML file: of its only object. */
  async #queryOf(path: string, named: Place): Promise<string> {
    const tree = await readTree(path, named, this.#sources);
    if (tree === null) return "";
    const parsed = plain(tree);
    const objects = Array.isArray(parsed) ? parsed : [parsed];
    const query = objects.length === 1 && isRecord(objects[0]) ? objects[0].query : undefined;
    if (typeof query === "string" && query.trim() !== "") return this.#digestOf(query, "query");
    this.#sources.problems.error(named, `${shownAs(path, this.#sources)} must have one query, under the key query`);
    return "";
  }

  /** Returns the digest of the file's text. */
  async #storeFile(path: string, named: Place, form: Form): Promise<string> {
    const whole = await readBytes(path, named, this.#sources);
    if (whole === null) return "";
    const shown = shownAs(path, this.#sources);
    const bytes = SCRIPTS.includes(extname(path).toLowerCase())
      ? withoutMark(whole, path, named, this.#sources)
      : whole;
    const text = textOfBytes(bytes);
    if (text === null || text.trim() === "") {
      this.#sources.problems.error(named, `${shown} ${text === null ? "is not UTF-8 text" : "is empty"}`);
      return "";
    }
    if (form !== "query") takeVariables(text, shown, this.#sources);
    return this.#digestOf(text, form);
  }

  /** Returns the digest of the image. The server checks the rest of it. */
  async #image(path: string, named: Place): Promise<string> {
    const bytes = await readBytes(path, named, this.#sources);
    if (bytes === null) return "";
    if (bytes.subarray(0, PNG.length).equals(PNG)) return this.#digestOfBytes(bytes);
    this.#sources.problems.error(named, `${shownAs(path, this.#sources)} is not a PNG image`);
    return "";
  }

  /** The digest of the text as the server stores it. */
  #digestOf(text: string, form: Form): string {
    const stored = form === "query" ? text.trim() : form === "script" ? text.replaceAll("\r\n", "\n") : text;
    return this.#digestOfBytes(Buffer.from(stored));
  }

  #digestOfBytes(content: Buffer): string {
    const sha256 = createHash("sha256").update(content).digest("hex");
    this.#sources.contents.set(sha256, content);
    return sha256;
  }
}

const PNG = Buffer.from("89504e470d0a1a0a", "hex");

/** A `file` stays as it is: a script that is a package itself, or settings of an app. */
type Form = "query" | "script" | "file";
