// YAML as a tree that knows where each part stands, so that whatever is wrong with a part can be told with its place.
import {
  type Document,
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseAllDocuments,
} from "yaml";
import { type Place, type Problems, startOf } from "./problems.ts";
import { type Environment, placeAt, substitute } from "./substitute.ts";

export type Tree = Leaf | List | Mapping;
export interface Leaf {
  readonly kind: "leaf";
  readonly value: string | number | boolean | null;
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
}

/** What a file may hold, aliases followed: a few aliases of aliases make more nodes than there is memory. */
const MAX_NODES = 1_000_000;
const MAX_DEPTH = 64;

/** The documents of a YAML file; null for those that are empty. Problems are told, and what could be read is given. */
export function parseTrees(text: string, file: string, environment: Environment, problems: Problems): (Tree | null)[] {
  const expanded = substitute(text, file, environment, problems);
  const lines = new LineCounter();
  const documents = parseAllDocuments(expanded.text, { lineCounter: lines, prettyErrors: false, uniqueKeys: true });
  const place = (offset: number) => placeAt(text, expanded.original(offset), file);
  return [...documents].map((document) => {
    for (const { pos, message } of document.errors) problems.error(place(pos[0]), message);
    if (document.errors.length > 0 || document.contents === null) return null;
    return new Reader(document, place, problems).tree();
  });
}

/** The one document of a file; null where it is empty or cannot be read. */
export function parseTree(text: string, file: string, environment: Environment, problems: Problems): Tree | null {
  const trees = parseTrees(text, file, environment, problems);
  if (trees.length > 1) problems.error(trees[1]?.at ?? startOf(file), "more than one document in one file");
  return trees[0] ?? null;
}

class TooLarge extends Error {}

class Reader {
  private nodes = 0;
  private readonly document: Document;
  private readonly place: (offset: number) => Place;
  private readonly problems: Problems;

  constructor(document: Document, place: (offset: number) => Place, problems: Problems) {
    this.document = document;
    this.place = place;
    this.problems = problems;
  }

  tree(): Tree | null {
    const root = this.document.contents as Node;
    try {
      return this.read(root, 0, this.at(root));
    } catch (error) {
      if (!(error instanceof TooLarge)) throw error;
      this.problems.error(this.at(root), error.message);
      return null;
    }
  }

  private at(node: Node): Place {
    return this.place(node.range?.[0] ?? 0);
  }

  private read(node: unknown, depth: number, parent: Place): Tree {
    if (++this.nodes > MAX_NODES) throw new TooLarge(`more than ${MAX_NODES} values in one file`);
    if (depth > MAX_DEPTH) throw new TooLarge(`nested more than ${MAX_DEPTH} deep`);
    if (isAlias(node)) {
      const target = node.resolve(this.document);
      if (target) return this.read(target, depth + 1, this.at(node));
      return this.wrong(this.at(node), `there is no anchor ${node.source}`);
    }
    if (isMap(node)) return this.map(node.items, this.at(node), depth);
    if (isSeq(node)) {
      const at = this.at(node);
      return { kind: "list", items: node.items.map((item) => this.read(item, depth + 1, at)), at };
    }
    if (isScalar(node)) return this.leaf(node.value, this.at(node));
    return { kind: "leaf", value: null, at: parent };
  }

  private map(items: readonly unknown[], at: Place, depth: number): Mapping {
    const entries = new Map<string, Entry>();
    for (const item of items) {
      if (!isPair(item)) continue;
      const { key, value } = item;
      if (!isScalar(key) || key.value === null || typeof key.value === "object") {
        this.problems.error(
          key && typeof key === "object" && "range" in key ? this.at(key as Node) : at,
          "a key must be a text",
        );
        continue;
      }
      const keyAt = this.at(key);
      entries.set(String(key.value), { key: keyAt, value: this.read(value, depth + 1, keyAt) });
    }
    return { kind: "map", entries, at };
  }

  private leaf(value: unknown, at: Place): Leaf {
    if (value === null || ["string", "number", "boolean"].includes(typeof value))
      return { kind: "leaf", value: value as Leaf["value"], at };
    if (typeof value === "bigint") return { kind: "leaf", value: Number(value), at };
    return this.wrong(at, "this kind of value has no meaning here");
  }

  private wrong(at: Place, message: string): Leaf {
    this.problems.error(at, message);
    return { kind: "leaf", value: null, at };
  }
}

/** The values alone. */
export function plain(tree: Tree): unknown {
  if (tree.kind === "leaf") return tree.value;
  if (tree.kind === "list") return tree.items.map(plain);
  const made: Record<string, unknown> = {};
  for (const [key, { value }] of tree.entries)
    Object.defineProperty(made, key, { value: plain(value), enumerable: true, configurable: true, writable: true });
  return made;
}

/** Where the part at the path stands; the nearest part around it where there is none. */
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
