// Packs of osquery as they are published: JSON with comments and line continuations. Their queries become queries that run at
// an interval, their discovery queries a label.
import { type Place, type Problems, startOf } from "./problems.ts";
import { OMITTED, type VariableSources } from "./substitute.ts";
import { type Entry, type Mapping, parseTree, plain, type Tree, textIn } from "./tree.ts";

const EXTENSION = ".conf";
export const isPackFile = (path: string): boolean => path.toLowerCase().endsWith(EXTENSION);

export interface OsqueryPack {
  readonly queries: readonly Tree[];
  /** For hosts that pass the pack's discovery; null if it has none. */
  readonly label: Tree | null;
}

const TOKENS = /"(?:\\.|[^"\\])*"|\/\/[^\n]*|\/\*.*?\*\/|^[ \t]*#[^\n]*|\t/gms;

/** JSON of the same length, so that places stay. Private characters mark what is left out of texts. */
const asJson = (text: string): string =>
  text.replace(TOKENS, (token) =>
    token.startsWith('"')
      ? token.replace(/\\\r?\n/g, (end) => OMITTED.repeat(end.length))
      : token.replace(/[^\n\r]/g, " "),
  );

/** The pack in the text; null, with the problem reported, if it is none. `name`: that of the file. */
export function readPack(text: string, file: string, name: string, sources: VariableSources): OsqueryPack | null {
  const tree = parseTree(text, file, { ...sources, isVerbatim: true, prepared: asJson });
  const { problems } = sources;
  if (tree === null) return null;
  if (tree.kind !== "map" || tree.entries.get("queries")?.value.kind !== "map") {
    const isWhole = tree.kind === "map" && ["options", "schedule", "packs"].some((key) => tree.entries.has(key));
    problems.error(
      tree.at,
      isWhole
        ? "this is a configuration of osquery, not a pack: give its packs as files of their own, with queries"
        : "a pack of osquery must be an object with queries",
    );
    return null;
  }
  return new PackReader(tree, file, name, problems).pack();
}

const PACK_KEYS: ReadonlySet<string> = new Set(["queries", "platform", "version", "discovery", "description", "name"]);
const QUERY_KEYS: ReadonlySet<string> = new Set([
  "query",
  "interval",
  "platform",
  "version",
  "description",
  "value",
  "snapshot",
  "removed",
]);
const platformsByWord: Readonly<Record<string, string>> = {
  any: "",
  all: "",
  posix: "darwin,linux",
  darwin: "darwin",
  mac: "darwin",
  macos: "darwin",
  linux: "linux",
  ubuntu: "linux",
  centos: "linux",
  windows: "windows",
};
const DEFAULT_INTERVAL = 3600;

class PackReader {
  readonly #tree: Mapping;
  readonly #name: string;
  readonly #problems: Problems;
  readonly #start: Place;

  constructor(tree: Mapping, file: string, name: string, problems: Problems) {
    this.#tree = tree;
    this.#name = name;
    this.#problems = problems;
    this.#start = startOf(file);
  }

  pack(): OsqueryPack {
    this.#warnOf(this.#tree, PACK_KEYS);
    const label = this.#label();
    const { entries } = this.#tree.entries.get("queries")!.value as Mapping;
    return { queries: [...entries].flatMap(([name, entry]) => this.#query(name, entry, label !== null)), label };
  }

  #warnOf({ entries }: Mapping, knownKeys: ReadonlySet<string>): void {
    for (const [key, { key: at }] of entries)
      if (!knownKeys.has(key)) this.#problems.warn(at, `${key} is ignored: queries have nothing like it`);
  }

  get #labelName(): string {
    return `${this.#name} (discovery)`;
  }

  /** osquery runs a pack if each of its discovery queries returns rows. */
  #label(): Tree | null {
    const entry = this.#tree.entries.get("discovery");
    const value = entry && plain(entry.value);
    if (entry === undefined || value === null || (Array.isArray(value) && value.length === 0)) return null;
    if (!Array.isArray(value) || !value.every((query) => typeof query === "string")) {
      this.#problems.error(entry.value.at, "discovery must be a list of queries");
      return null;
    }
    const all = value.map((sql) => `EXISTS (${trimmed(sql)})`).join(" AND ");
    return this.#map(entry.key, {
      name: this.#labelName,
      description: `Hosts that pass the discovery of the pack ${this.#name}`,
      query: `SELECT 1 WHERE ${all}`,
    });
  }

  #query(name: string, { key, value: tree }: Entry, hasLabel: boolean): Tree[] {
    if (tree.kind !== "map") {
      this.#problems.error(tree.at, `queries.${name}: expected object`);
      return [];
    }
    this.#warnOf(tree, QUERY_KEYS);
    const spec = plain(tree) as Readonly<Record<string, unknown>>;
    const platformText = textIn(tree.entries.get("platform")?.value) ?? "";
    const platform = this.#platform(
      platformText || this.#text("platform"),
      tree.entries.get("platform")?.value.at ?? key,
    );
    const { description, value, snapshot, removed, interval = DEFAULT_INTERVAL, version, query } = spec;
    const fields = {
      name: `${this.#name}/${name}`,
      query: typeof query === "string" ? trimmed(query) : query,
      description: [description, value].filter((text) => typeof text === "string" && text !== "").join("\n"),
      interval: typeof interval === "string" && /^\d+$/.test(interval.trim()) ? Number(interval) : interval,
      platform,
      min_qengine_version: typeof version === "string" ? version : this.#text("version"),
      logging: isTrue(snapshot) ? "snapshot" : isFalse(removed) ? "differential_ignore_removals" : "differential",
      automations_enabled: true,
      ...(hasLabel ? { labels_include_any: [this.#labelName] } : {}),
    };
    return [this.#map(key, fields, tree)];
  }

  #text(key: string): string {
    return textIn(this.#tree.entries.get(key)?.value) ?? "";
  }

  #platform(words: string, at: Place): string {
    const listed = words
      .toLowerCase()
      .split(",")
      .map((word) => word.trim())
      .filter((word) => word !== "");
    const unknown = listed.find((word) => !Object.hasOwn(platformsByWord, word));
    if (unknown !== undefined && listed.length === 1)
      this.#problems.warn(at, `the platform ${unknown} has no hosts here`);
    const all = listed.map((word) => platformsByWord[word] ?? word);
    return all.includes("") ? "" : [...new Set(all.flatMap((group) => group.split(",")))].join(",");
  }

  /** An object whose values have the places of those in the file. */
  #map(at: Place, fields: Readonly<Record<string, unknown>>, source?: Mapping): Tree {
    const entries = Object.entries(fields).flatMap(([key, value]): [string, Entry][] => {
      if (value === undefined) return [];
      const place = source?.entries.get(key);
      const [keyAt, valueAt] = [place?.key ?? at, place?.value.at ?? at];
      return [[key, { key: keyAt, value: treeOf(value, valueAt), isHidden: false }]];
    });
    return { kind: "map", entries: new Map(entries), at: at ?? this.#start };
  }
}

const trimmed = (sql: string): string => sql.trim().replace(/;\s*$/, "");
const isTrue = (value: unknown): boolean => value === true || value === "true";
const isFalse = (value: unknown): boolean => value === false || value === "false";

function treeOf(value: unknown, at: Place): Tree {
  if (Array.isArray(value)) return { kind: "list", items: value.map((element) => treeOf(element, at)), at };
  if (typeof value === "object" && value !== null)
    return {
      kind: "map",
      entries: new Map(
        Object.entries(value).map(([key, member]) => [key, { key: at, value: treeOf(member, at), isHidden: false }]),
      ),
      at,
    };
  return { kind: "leaf", value: value as string | number | boolean | null, at };
}
