// YAML as a tree that knows the place of each part, so that every problem can be reported with its place.
import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseAllDocuments,
  type Scalar,
} from "yaml";
import { SECRET_PREFIX } from "../../api/settings/variables.ts";
import { defineOwn } from "../../text/record.ts";
import type { Masks } from "../environment/masks.ts";
import { PER_HOST } from "../environment/variables.ts";
import { type Place, type Problems, startOf } from "./problems.ts";
import {
  type ExpandedText,
  inComment,
  inNameTemplate,
  OMITTED,
  placesIn,
  substitute,
  takeVariable,
  type VariableSources,
} from "./substitute.ts";

export type Tree = Leaf | List | Mapping;
export interface Leaf {
  readonly kind: "leaf";
  readonly value: string | number | boolean | null;
  /** The text in the file, if YAML reads it as another value than a text. */
  readonly written?: string;
  readonly at: Place;
}
export interface List {
  readonly kind: "list";
  readonly items: readonly Tree[];
  readonly at: Place;
}
export interface Mapping {
  readonly kind: "map";
  readonly entries: ReadonlyMap<string, Entry>;
  readonly at: Place;
}
export interface Entry {
  readonly key: Place;
  readonly value: Tree;
  /** The key comes from a variable's value, which may be secret: it is not shown. */
  readonly isHidden: boolean;
}

/**
 * The maximum size of a file with aliases resolved: a few nested aliases can expand to more nodes than fit into
 * memory.
 */
const MAX_NODES = 1_000_000;
const MAX_DEPTH = 64;

/** The documents of a YAML file; null for empty ones. Problems are reported, and readable parts are returned. */
export function parseTrees(text: string, file: string, sources: VariableSources): (Tree | null)[] {
  const { environment, problems } = sources;
  const isKept = (name: string, offset: number): boolean => {
    if (sources.isVerbatim || name.startsWith(PER_HOST)) return true;
    if (!name.startsWith(SECRET_PREFIX) || !inNameTemplate(text, offset)) return false;
    if (!inComment(text, offset)) takeVariable(name, placesIn(text, file)(offset), sources);
    return true;
  };
  const expanded = substitute(sources.prepared?.(text) ?? text, file, environment, problems, isKept);
  const counter = new LineCounter();
  // The reader finds keys that are given twice: it knows both places, and takes no quadratic time.
  const documents = parsed(expanded.text, counter);
  if (documents === null) {
    problems.error(startOf(file), `nested more than ${MAX_DEPTH} deep`);
    return [];
  }
  const inFile = placesIn(text, file);
  const place = (offset: number) => inFile(expanded.original(offset));
  return documents.map((document) => {
    if (document.errors.some(({ message }) => message.includes(STACK))) {
      problems.error(place(document.errors[0]!.pos[0]), `nested more than ${MAX_DEPTH} deep`);
      return null;
    }
    // Warnings concern unsupported tags: the value would be read differently from what was meant.
    // A mistake often makes the parser stumble several times in its line.
    const lines = new Set<number>();
    for (const { pos, message } of [...document.errors, ...document.warnings]) {
      const at = place(pos[0]);
      if (!lines.has(at.line)) problems.error(at, expanded.inValue(pos[0]) === null ? message : UNQUOTED);
      lines.add(at.line);
    }
    if (document.errors.length > 0 || document.contents === null) return null;
    const { masks } = environment;
    return new Reader(document, {
      place,
      expanded,
      problems,
      masks,
      hasOmitted: sources.prepared !== undefined,
    }).tree();
  });
}

/** Null if the documents are nested too deep for the parser's stack. */
function parsed(text: string, lineCounter: LineCounter): readonly Document[] | null {
  try {
    return [...parseAllDocuments(text, { lineCounter, prettyErrors: false, uniqueKeys: false })];
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** The one document of a file; null if it is empty or unreadable. */
export function parseTree(text: string, file: string, sources: VariableSources): Tree | null {
  const trees = parseTrees(text, file, sources);
  if (trees.length > 1) sources.problems.error(trees[1]?.at ?? startOf(file), "more than one document in one file");
  return trees[0] ?? null;
}

/** The parser reports its own overflows as errors of the text. */
const STACK = "call stack size exceeded";

/** Replaces messages that might quote a secret. */
const UNQUOTED = "YAML would not read the variable's value as plain text: put it into quotes, or into a block (|-)";

class TooLarge extends Error {}

interface ReaderParts {
  readonly place: (offset: number) => Place;
  readonly expanded: ExpandedText;
  readonly problems: Problems;
  readonly masks: Masks;
  readonly hasOmitted: boolean;
}

class Reader {
  #nodes = 0;
  readonly #anchors = new Map<string, { readonly tree: Tree; readonly size: number }>();
  readonly #heights = new WeakMap<Tree, number>();
  readonly #document: Document;
  readonly #place: (offset: number) => Place;
  readonly #expanded: ExpandedText;
  readonly #problems: Problems;
  readonly #masks: Masks;
  readonly #hasOmitted: boolean;

  constructor(document: Document, { place, expanded, problems, masks, hasOmitted }: ReaderParts) {
    this.#hasOmitted = hasOmitted;
    this.#document = document;
    this.#place = place;
    this.#expanded = expanded;
    this.#problems = problems;
    this.#masks = masks;
  }

  tree(): Tree | null {
    const root = this.#document.contents as Node;
    try {
      return this.#read(root, 0, this.#at(root));
    } catch (error) {
      if (!(error instanceof TooLarge)) throw error;
      this.#problems.error(this.#at(root), error.message);
      return null;
    }
  }

  #at(node: Node): Place {
    return this.#place(node.range?.[0] ?? 0);
  }

  #inValue(node: Node): ReturnType<ExpandedText["inValue"]> {
    return this.#expanded.inValue(node.range?.[0] ?? 0);
  }

  /** A text that starts before or with a variable's value and ends inside it, for instance at a comment. */
  #isCut({ type, range }: Scalar): boolean {
    if (type !== "PLAIN" || !range) return false;
    const [start, end] = range;
    const within = this.#expanded.inValue(start)?.before ?? "";
    return (
      within === "" &&
      (this.#expanded.inValue(end)?.rest.trim() ?? "") !== "" &&
      this.#expanded.inValue(end)?.before !== ""
    );
  }

  #read(node: unknown, depth: number, parent: Place): Tree {
    this.#count(1, depth);
    if (isAlias(node)) return this.#again(node, depth);
    const anchor = isNode(node) ? node.anchor : undefined;
    if (anchor === undefined) return this.#readPart(node, depth, parent);
    // Registered after it is read whole: a node that contains itself would never end.
    this.#anchors.delete(anchor);
    const before = this.#nodes;
    const tree = this.#readPart(node, depth, parent);
    this.#anchors.set(anchor, { tree, size: this.#nodes - before });
    return tree;
  }

  /** Reuses the anchor's tree; each use counts towards the limit. */
  #again(node: Alias, depth: number): Tree {
    const anchored = this.#anchors.get(node.source);
    if (!anchored)
      return this.#wrong(this.#at(node), this.#inValue(node) ? UNQUOTED : `there is no anchor ${node.source}`);
    this.#count(anchored.size, depth + this.#heightOf(anchored.tree));
    return anchored.tree;
  }

  #count(nodes: number, depth: number): void {
    this.#nodes += nodes;
    if (this.#nodes > MAX_NODES) throw new TooLarge(`more than ${MAX_NODES} values in one file`);
    if (depth > MAX_DEPTH) throw new TooLarge(`nested more than ${MAX_DEPTH} deep`);
  }

  #heightOf(tree: Tree): number {
    const cached = this.#heights.get(tree);
    if (cached !== undefined) return cached;
    const inner =
      tree.kind === "list"
        ? tree.items
        : tree.kind === "map"
          ? [...tree.entries.values()].map(({ value }) => value)
          : [];
    const height = inner.reduce((most, child) => Math.max(most, 1 + this.#heightOf(child)), 0);
    this.#heights.set(tree, height);
    return height;
  }

  #readPart(node: unknown, depth: number, parent: Place): Tree {
    if (isMap(node)) return this.#map(node.items, this.#at(node), depth);
    if (isSeq(node)) {
      const at = this.#at(node);
      return { kind: "list", items: node.items.map((item) => this.#read(item, depth + 1, at)), at };
    }
    if (isScalar(node) && this.#isCut(node)) return this.#wrong(this.#at(node), UNQUOTED);
    if (isScalar(node)) return this.#leaf(node);
    return { kind: "leaf", value: null, at: parent };
  }

  #map(items: readonly unknown[], at: Place, depth: number): Mapping {
    const entries = new Map<string, Entry>();
    const merged: Mapping[] = [];
    for (const item of items) {
      if (!isPair(item)) continue;
      const { key, value } = item;
      if (!isScalar(key) || key.value === null || typeof key.value === "object") {
        this.#problems.error(
          key && typeof key === "object" && "range" in key ? this.#at(key as Node) : at,
          "a key must be a string",
        );
        continue;
      }
      const keyAt = this.#at(key);
      const entry = (): Entry => ({
        key: keyAt,
        value: this.#read(value, depth + 1, keyAt),
        isHidden: this.#inValue(key) !== null,
      });
      if (isMergeKey(key)) {
        merged.push(...this.#mergedMaps(entry()));
        continue;
      }
      const name = this.#textOf(key);
      const before = entries.get(name);
      if (before) this.#repeated(name, keyAt, before);
      else entries.set(name, entry());
    }
    // What the map itself has wins, then what the first of the merged maps has.
    for (const map of merged) for (const [name, entry] of map.entries) if (!entries.has(name)) entries.set(name, entry);
    return { kind: "map", entries, at };
  }

  /** The maps that `<<` names: one, or a list of them. */
  #mergedMaps({ key, value }: Entry): Mapping[] {
    const maps = value.kind === "list" ? value.items : [value];
    if (!maps.every((map) => map.kind === "map"))
      this.#problems.error(key, "<< must name an object, or a list of objects, with *anchor");
    return maps.filter((map): map is Mapping => map.kind === "map");
  }

  #repeated(name: string, at: Place, before: Entry): void {
    const key = before.isHidden ? "the key from a variable" : `the key ${name}`;
    this.#problems.error(at, `${key} is given twice: it is also in line ${before.key.line}. Keep one of them`);
  }

  #leaf(node: Scalar): Leaf {
    const at = this.#at(node);
    const value = this.#hasOmitted && typeof node.value === "string" ? node.value.replaceAll(OMITTED, "") : node.value;
    const written = typeof value === "string" ? undefined : node.source;
    if (value === null || ["string", "number", "boolean"].includes(typeof value)) {
      this.#hideDerived(node, String(value));
      return { kind: "leaf", value: value as Leaf["value"], ...(written === undefined ? {} : { written }), at };
    }
    return this.#wrong(at, "this kind of value is not allowed here");
  }

  /** A key as it is written: `0123` is no number there. */
  #textOf(key: Scalar): string {
    const text = typeof key.value === "string" ? key.value : (key.source ?? String(key.value));
    this.#hideDerived(key, text);
    return text;
  }

  /** A text that a variable has a part in must not be printed either. */
  #hideDerived({ range, source }: Scalar, text: string): void {
    const variables = range ? this.#expanded.variablesIn(range[0], range[1]) : [];
    if (variables.length === 0) return;
    for (const form of new Set([text, source ?? text, ...text.split(",").map((part) => part.trim())]))
      this.#masks.addDerived(variables, form);
  }

  #wrong(at: Place, message: string): Leaf {
    this.#problems.error(at, message);
    return { kind: "leaf", value: null, at };
  }
}

const isMergeKey = ({ value, type }: Scalar): boolean => value === "<<" && type === "PLAIN";

/** A name or another text, as it is written; null for anything else, and for nothing. */
export const textIn = (tree: Tree | undefined): string | null =>
  tree?.kind !== "leaf" || tree.value === null || typeof tree.value === "boolean"
    ? null
    : (tree.written ?? String(tree.value));

/** The plain values of a tree. */
export function plain(tree: Tree): unknown {
  if (tree.kind === "leaf") return tree.value;
  if (tree.kind === "list") return tree.items.map(plain);
  const record: Record<string, unknown> = {};
  for (const [key, { value }] of tree.entries) defineOwn(record, key, plain(value));
  return record;
}

/** The place of the part at the path, or of the nearest part around it. */
export function placeOf(tree: Tree, path: readonly PropertyKey[]): Place {
  let at = tree.at;
  let part: Tree | undefined = tree;
  for (const step of path) {
    if (part?.kind === "map") {
      const entry: Entry | undefined = part.entries.get(String(step));
      if (!entry) return at;
      at = entry.key;
      part = entry.value;
    } else if (part?.kind === "list") {
      part = part.items[Number(step)];
      if (!part) return at;
      at = part.at;
    } else return at;
  }
  return at;
}

/** The nearest existing part at a path. */
export function subtree(tree: Tree, path: readonly string[]): Tree {
  return path.reduce((at: Tree, step) => {
    const inner = at.kind === "map" ? at.entries.get(step)?.value : at.kind === "list" ? at.items[Number(step)] : null;
    return inner ?? at;
  }, tree);
}

/** A key as it may be shown: a key from a variable's value may be part of a secret. */
export const shownKey = (key: string, entry: Entry | undefined): string =>
  entry?.isHidden ? "(from a variable)" : key;

/** The entry with this key in the map at the path. */
export function entryAt(tree: Tree, path: readonly PropertyKey[], key: string): Entry | undefined {
  const at = path.reduce<Tree | undefined>(
    (part, step) =>
      part?.kind === "map"
        ? part.entries.get(String(step))?.value
        : part?.kind === "list"
          ? part.items[Number(step)]
          : undefined,
    tree,
  );
  return at?.kind === "map" ? at.entries.get(key) : undefined;
}
