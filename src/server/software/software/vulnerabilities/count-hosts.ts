// Counts the vulnerabilities of all hosts. The hosts are read in many short reads, because reads of one transaction keep
// others waiting on the embedded store. A transaction at the end then finds the hosts that have changed meanwhile.
import { ALL_HOSTS, NO_TEAM } from "../../../hosts/count-changes/tables.ts";
import { parts, turns } from "../../../platform/core/concurrency/parts.ts";
import { byId } from "../../../platform/core/maps.ts";
import type { ServerStore, ServerTx } from "../../../platform/core/tables.ts";
import { gt, oneOf } from "../../../platform/store/query.ts";
import { type CountedHost, CountedHosts } from "./counted-hosts.ts";
import { CRITICAL_SCORE, type CriticalCves } from "./critical.ts";

/** Hosts that are read at once. */
const BATCH_SIZE = 100;
const READ_SIZE = 1_000;
const inOrder = [{ column: "id", direction: "asc" }] as const;

export interface Counts {
  /** By scope: the number of hosts of each vulnerability, at its place in `ids`. */
  readonly scopes: ReadonlyMap<number, Uint32Array>;
  readonly ids: readonly number[];
  /** Hosts whose stored numbers of critical vulnerabilities are others. */
  readonly otherwiseCritical: readonly number[];
  readonly critical: CriticalCves;
  /** Differences that were recorded before. */
  readonly pending: readonly number[];
}

/** Counts hosts as they are at one moment, at the end. Null if the signal aborted. */
export async function countHosts(store: ServerStore, signal: AbortSignal): Promise<Counts | null> {
  const turn = turns();
  const cves = await readCves(store, turn);
  const tally = new Tally(cves);
  for (let last = 0; !signal.aborted; ) {
    const hosts = await store.hosts.pick(["id", "team_id", "os_version_id"], {
      where: gt("id", last),
      order: inOrder,
      limit: BATCH_SIZE,
    });
    if (hosts.length === 0) break;
    await addHosts(store, tally, hosts, turn);
    last = hosts.at(-1)!.id;
  }
  const pending = await store.tx((tx) => correctHosts(tx, tally, signal), { snapshot: true });
  if (signal.aborted) return null;
  const { scopes, otherwiseCritical } = tally;
  return { scopes, ids: cves.ids, otherwiseCritical: [...otherwiseCritical], critical: cves.critical, pending };
}

interface HostRow {
  readonly id: number;
  readonly team_id: number | null;
  readonly os_version_id: number | null;
}

async function addHosts(
  store: ServerTx,
  tally: Tally,
  hosts: readonly HostRow[],
  turn: () => Promise<void>,
): Promise<void> {
  const where = oneOf(
    "id",
    hosts.map(({ id }) => id),
  );
  const stored = byId(await store.hostPolicies.pick(["id", "critical_count"], { where }));
  const lists = byId(await store.hostSoftware.pick(["id", "software_ids", "revision"], { where, transient: true }));
  for (const { id, team_id, os_version_id } of hosts) {
    const list = lists.get(id);
    const host = { team: team_id ?? NO_TEAM, system: os_version_id ?? 0, revision: list?.revision ?? 0 };
    tally.add(id, { ...host, software: list?.software_ids ?? [] }, stored.get(id)?.critical_count ?? 0);
    await turn();
  }
}

/** Counts hosts again that were added, changed or deleted since they were counted. Returns the differences so far. */
async function correctHosts(tx: ServerTx, tally: Tally, signal: AbortSignal): Promise<number[]> {
  const pending = (await tx.vulnerabilityCountChanges.pick(["id"])).map(({ id }) => id);
  const revisions = new Map<number, number>();
  for await (const rows of tx.hostSoftware.pages({}, READ_SIZE, ["id", "revision"]))
    for (const { id, revision } of rows) revisions.set(id, revision);
  const gone = new Set(tally.counted.ids());
  const others: HostRow[] = [];
  for await (const rows of tx.hosts.pages({}, READ_SIZE, ["id", "team_id", "os_version_id"]))
    for (const row of rows) {
      gone.delete(row.id);
      const { id, team_id, os_version_id } = row;
      const now = { team: team_id ?? NO_TEAM, system: os_version_id ?? 0, revision: revisions.get(id) ?? 0 };
      if (!tally.counted.isSame(id, now)) others.push(row);
    }
  for (const id of gone) tally.remove(id);
  for (const { id } of others) tally.remove(id);
  for await (const batch of parts(others, BATCH_SIZE)) {
    if (signal.aborted) break;
    await addHosts(tx, tally, batch, async () => undefined);
  }
  return pending;
}

/** The vulnerabilities of versions, as places in a list. */
interface Cves {
  /** Rows of the vulnerabilities, by place. */
  readonly ids: readonly number[];
  readonly isCritical: readonly boolean[];
  readonly ofSoftware: Places;
  readonly ofSystems: Places;
  readonly critical: CriticalCves;
}

async function readCves(store: ServerStore, turn: () => Promise<void>): Promise<Cves> {
  const ids: number[] = [];
  const isCritical: boolean[] = [];
  const placeOf = new Map<string, number>();
  for await (const rows of store.vulnerabilities.pages({}, READ_SIZE, ["id", "cve", "cvss_score"])) {
    for (const { id, cve, cvss_score } of rows) {
      placeOf.set(cve, ids.length);
      ids.push(id);
      isCritical.push(cvss_score >= CRITICAL_SCORE);
    }
    await turn();
  }
  const ofSoftware = new Places(placeOf);
  for await (const rows of store.softwareCves.pages({}, READ_SIZE, ["software_id", "cve"])) {
    for (const { software_id, cve } of rows) ofSoftware.add(software_id, cve);
    await turn();
  }
  const ofSystems = new Places(placeOf);
  for await (const rows of store.osCves.pages({}, READ_SIZE, ["os_version_id", "cve"])) {
    for (const { os_version_id, cve } of rows) ofSystems.add(os_version_id, cve);
    await turn();
  }
  const criticalIn = (places: Places) => async (versions: readonly number[]) =>
    new Map(versions.map((id) => [id, places.of(id).filter((place) => isCritical[place])]));
  const critical = { ofSoftware: criticalIn(ofSoftware), ofSystems: criticalIn(ofSystems) };
  return { ids, isCritical, ofSoftware, ofSystems, critical };
}

const none: readonly number[] = [];

class Places {
  readonly #byId = new Map<number, number[]>();
  readonly #placeOf: ReadonlyMap<string, number>;

  constructor(placeOf: ReadonlyMap<string, number>) {
    this.#placeOf = placeOf;
  }

  add(id: number, cve: string): void {
    const place = this.#placeOf.get(cve);
    if (place === undefined) return;
    const places = this.#byId.get(id);
    if (places) places.push(place);
    else this.#byId.set(id, [place]);
  }

  has(id: number): boolean {
    return this.#byId.has(id);
  }

  of(id: number): readonly number[] {
    return this.#byId.get(id) ?? none;
  }
}

class Tally {
  readonly scopes = new Map<number, Uint32Array>();
  readonly counted = new CountedHosts();
  readonly otherwiseCritical = new Set<number>();
  readonly #cves: Cves;
  /** The last host that was counted for each vulnerability, because several of its versions may have it. */
  readonly #countedFor: Uint32Array;
  #turn = 0;

  constructor(cves: Cves) {
    this.#cves = cves;
    this.#countedFor = new Uint32Array(cves.ids.length);
    this.#scope(ALL_HOSTS);
  }

  add(id: number, host: CountedHost, storedCritical: number): void {
    const { ofSoftware } = this.#cves;
    const software = host.software.filter((version) => ofSoftware.has(version));
    this.counted.set(id, { ...host, software });
    const critical = this.#count({ ...host, software }, 1);
    if (critical !== storedCritical) this.otherwiseCritical.add(id);
  }

  /** Does nothing if the host was not counted. */
  remove(id: number): void {
    const host = this.counted.get(id);
    if (host !== undefined) this.#count(host, -1);
    this.otherwiseCritical.delete(id);
  }

  #scope(scope: number): Uint32Array {
    const existing = this.scopes.get(scope);
    if (existing !== undefined) return existing;
    const counts = new Uint32Array(this.#cves.ids.length);
    this.scopes.set(scope, counts);
    return counts;
  }

  /** Returns how many of the host's vulnerabilities are critical. */
  #count({ team, system, software }: CountedHost, step: 1 | -1): number {
    const { ofSoftware, ofSystems, isCritical } = this.#cves;
    const all = this.#scope(ALL_HOSTS);
    const teamCounts = this.#scope(team);
    const countedFor = this.#countedFor;
    const turn = ++this.#turn;
    let critical = 0;
    const count = (places: readonly number[]) => {
      for (const place of places) {
        if (countedFor[place] === turn) continue;
        countedFor[place] = turn;
        all[place]! += step;
        teamCounts[place]! += step;
        if (isCritical[place]) critical++;
      }
    };
    for (const version of software) count(ofSoftware.of(version));
    if (system !== 0) count(ofSystems.of(system));
    return critical;
  }
}
