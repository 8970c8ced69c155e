// The one place where names of hosts are resolved: UUIDs, agent identifiers, serial numbers, hostnames and node keys, as
// people type them. Hosts report all of these except node keys, so that a host can have the UUID of another one as its
// hostname or serial number. Therefore each way to identify hosts has a rank.
import { uuidIn } from "../../../text/uuid.ts";
import { parts } from "../../platform/core/concurrency/parts.ts";
import { conflict, invalid } from "../../platform/core/errors.ts";
import { tokenHash } from "../../platform/core/random.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, oneOf, type Predicate, same } from "../../platform/store/query.ts";
import type { HostRow } from "./access.ts";
import { IDENTIFIER_MAX, identifierSpellings, spellingsOf } from "./identifier.ts";

type Column = "uuid" | "identifier" | "hardware_serial" | "hostname" | "node_key_hash";

interface Rank {
  /** Columns that identify hosts equally well. */
  readonly columns: readonly Column[];
  /** What the name is if only hosts of this rank have it. */
  readonly label: string;
  /** Other ways to name one of several hosts. */
  readonly others: string;
}

const idRank: Rank = { columns: [], label: "id", others: "id" };
const keyRank: Rank = { columns: ["node_key_hash"], label: "node key", others: "id" };
const hostnameRank = { label: "hostname", others: "id, the UUID or the serial number" };
const uuidRanks: readonly Rank[] = [
  { columns: ["uuid"], label: "UUID", others: "id" },
  { columns: ["identifier"], label: "agent identifier", others: "id" },
  { columns: ["hardware_serial"], label: "serial number", others: "id or the UUID" },
  { columns: ["hostname"], ...hostnameRank },
];
/** A host that reports the serial number of another one as its UUID or agent identifier is not found instead of it. */
const textRanks: readonly Rank[] = [
  { columns: ["hardware_serial", "uuid"], label: "serial number or UUID", others: "id" },
  { columns: ["hostname", "identifier"], ...hostnameRank },
];

/** The hosts of the first rank in which there are any. */
export interface NamedHosts {
  /** In ascending order. */
  readonly ids: readonly number[];
  readonly rank: Rank;
}

export const namedById = (id: number): NamedHosts => ({ ids: [id], rank: idRank });

interface Options {
  /** Whether node keys are accepted too. */
  readonly hasKeys?: boolean;
}

/** The hosts with each of the names, among those that `where` matches. Names that match no host are left out. */
export async function hostsNamed(
  store: ServerTx,
  names: readonly string[],
  where: Predicate,
  { hasKeys = false }: Options = {},
): Promise<Map<string, NamedHosts>> {
  const named = new Map<string, NamedHosts>();
  // A blank name would match every host without a serial number.
  const usable = [...new Set(names)].filter((name) => name.trim() !== "" && name.length <= IDENTIFIER_MAX);
  const groups = [
    { texts: usable.filter((name) => uuidIn(name) !== null), ranks: uuidRanks },
    { texts: usable.filter((name) => uuidIn(name) === null), ranks: textRanks },
  ];
  for (const { texts, ranks } of groups)
    for await (const batch of parts(texts))
      for (const rank of hasKeys ? [keyRank, ...ranks] : ranks) {
        const left = batch.filter((name) => !named.has(name));
        if (left.length === 0) break;
        const search = new NameSearch(store, where);
        for (const column of rank.columns) await search.inColumn(column, left);
        for (const [name, ids] of search.idsByName) named.set(name, { ids: [...ids].sort((a, b) => a - b), rank });
      }
  return named;
}

class NameSearch {
  readonly idsByName = new Map<string, Set<number>>();
  readonly #store: ServerTx;
  readonly #where: Predicate;

  constructor(store: ServerTx, where: Predicate) {
    this.#store = store;
    this.#where = where;
  }

  async inColumn(column: Column, names: readonly string[]): Promise<void> {
    if (column === "node_key_hash")
      await this.#exactly(column, names, (name) => (name.isWellFormed() ? [tokenHash(name)] : []));
    else if (column === "identifier")
      await this.#exactly(column, names, (name) => spellingsOf(name).flatMap(identifierSpellings));
    else if (column === "hostname") {
      // Hostnames are not unique anyway; an exact spelling tells some of them apart.
      const exact = await this.#exactly(column, names, (name) => [name, name.trim()]);
      await this.#anyCase(
        column,
        names.filter((name) => !exact.has(name)),
      );
    } else await this.#anyCase(column, names);
  }

  async #exactly(column: Column, names: readonly string[], spell: (name: string) => readonly string[]) {
    const namesBySpelling = bySpelling(names, spell);
    return this.#add(column, namesBySpelling, oneOf(column, [...namesBySpelling.keys()]), (value) => value);
  }

  async #anyCase(column: Column, names: readonly string[]) {
    const namesBySpelling = bySpelling(names, (name) => spellingsOf(name).map(lowerCase));
    return this.#add(column, namesBySpelling, same(column, ...namesBySpelling.keys()), lowerCase);
  }

  /** Returns the names that it has found. */
  async #add(
    column: Column,
    namesBySpelling: ReadonlyMap<string, readonly string[]>,
    matches: Predicate,
    spellingOf: (value: string) => string,
  ): Promise<ReadonlySet<string>> {
    const added = new Set<string>();
    if (namesBySpelling.size === 0) return added;
    for (const row of await this.#store.hosts.pick(["id", column], { where: and(matches, this.#where) }))
      for (const name of namesBySpelling.get(spellingOf(row[column] ?? "")) ?? []) {
        added.add(name);
        this.idsByName.set(name, (this.idsByName.get(name) ?? new Set()).add(row.id));
      }
    return added;
  }
}

const lowerCase = (text: string): string => text.toLowerCase();

function bySpelling(names: readonly string[], spell: (name: string) => readonly string[]): Map<string, string[]> {
  const namesBySpelling = new Map<string, string[]>();
  for (const name of names)
    for (const spelling of new Set(spell(name)))
      namesBySpelling.set(spelling, [...(namesBySpelling.get(spelling) ?? []), name]);
  return namesBySpelling;
}

const IDS_SHOWN = 5;

function ambiguity(name: string, { ids, rank }: NamedHosts): string {
  const more = ids.length > IDS_SHOWN ? ` and ${ids.length - IDS_SHOWN} more` : "";
  const shown = `${ids.slice(0, IDS_SHOWN).join(", ")}${more}`;
  return `${ids.length} hosts have the ${rank.label} ${name} (ids ${shown}): use the ${rank.others} of one of them`;
}

/** The id of the host with each name. 422 of the field if several hosts have one of the names. */
export function soleHosts<Name>(matches: ReadonlyMap<Name, NamedHosts>, field: string): Map<Name, number> {
  return new Map(
    [...matches].map(([name, hosts]) => {
      if (hosts.ids.length > 1) throw invalid(field, ambiguity(String(name), hosts));
      return [name, hosts.ids[0]!];
    }),
  );
}

interface OneHostOptions extends Options {
  /** Whether the oldest of several hosts with this hostname is meant. All other names have to be unique. */
  readonly takesFirstHostname?: boolean;
}

/** The host with this name among those that `where` matches. 409 if there are several. */
export async function hostNamed(
  { store }: { readonly store: ServerTx },
  name: string,
  where: Predicate,
  { takesFirstHostname = false, ...options }: OneHostOptions = {},
): Promise<HostRow | null> {
  const hosts = (await hostsNamed(store, [name], where, options)).get(name);
  if (!hosts) return null;
  if (hosts.ids.length > 1 && !(takesFirstHostname && hosts.rank.label === hostnameRank.label))
    throw conflict(ambiguity(name, hosts));
  return store.hosts.get(hosts.ids[0]!);
}
