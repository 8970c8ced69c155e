// Counts the vulnerabilities of all hosts: after versions have got other vulnerabilities, and to correct deviations.
import { setImmediate as breathe } from "node:timers/promises";
import { channels } from "../../core/channels.ts";
import { isoAt, minutes } from "../../core/clock.ts";
import type { Services } from "../../core/context.ts";
import { byId } from "../../core/maps.ts";
import type { ServerTx } from "../../core/tables.ts";
import { gt, oneOf } from "../../store/query.ts";
import { ALL_HOSTS, NO_TEAM } from "../tables.ts";
import { addToScope } from "./add-counts.ts";
import { CRITICAL_SCORE, correctCritical } from "./critical.ts";
import { changeState, LOCK, type State, stateOf } from "./state.ts";

/** For how long differences wait at most while a server counts all hosts. */
const RECOUNT_TIME = minutes(10);
/** Hosts that are read at once. */
const SLICE = 200;
const PAIRS = 5_000;
const inOrder = [{ column: "id", direction: "asc" }] as const;

/** Whether all hosts have to be counted: nobody has done so since versions have other vulnerabilities. */
export const isDue = (state: State | null, now: string): boolean =>
  state === null || (state.recount_until === null ? state.is_due : state.recount_until <= now);

/** Returns whether it has finished. */
export async function recountVulnerabilities(
  services: Pick<Services, "store" | "clock" | "log" | "extensions">,
  signal: AbortSignal,
): Promise<boolean> {
  const { store, clock, log } = services;
  const generation = await store.tx(
    async (tx) => {
      const state = await stateOf(tx);
      const set = {
        recount_until: isoAt(clock.now() + RECOUNT_TIME),
        generation: (state?.generation ?? 0) + 1,
        // Whoever changes vulnerabilities while hosts are counted sets it again.
        is_due: false,
      };
      await changeState(tx, state, set);
      return set.generation;
    },
    { lock: LOCK },
  );
  let isDone = false;
  try {
    const now = clock.iso();
    const found = await store.tx((tx) => countHosts(tx, signal), { snapshot: true });
    if (found === null) return false;
    await correctCritical(services, found.otherwiseCritical, signal);
    isDone = await store.tx(
      async (tx) => {
        const state = await stateOf(tx);
        if (state?.generation !== generation) return false;
        const corrected = await correct(tx, found);
        if (state.recounted_at !== null && corrected > 0)
          log.debug({ corrected }, "counts of vulnerabilities have changed");
        // These were made by transactions whose hosts have just been counted.
        await tx.vulnerabilityCountChanges.delete(oneOf("id", found.pending));
        await changeState(tx, state, { counted_at: now, recounted_at: now, generation: generation + 1 });
        return true;
      },
      { lock: LOCK },
    );
    return isDone;
  } finally {
    await store.tx(
      async (tx) => {
        const state = await stateOf(tx);
        if (state) await changeState(tx, state, { recount_until: null, ...(isDone ? {} : { is_due: true }) });
        await tx.notify(channels.vulnerabilityCounts, "");
      },
      { lock: LOCK },
    );
  }
}

interface Found {
  /** By scope: the number of hosts of each vulnerability, at its place in `ids`. */
  readonly scopes: ReadonlyMap<number, Uint32Array>;
  readonly ids: readonly number[];
  /** Hosts whose stored numbers of critical vulnerabilities are others. */
  readonly otherwiseCritical: readonly number[];
  /** Differences that were recorded before. */
  readonly pending: readonly number[];
}

/** Null if the signal aborted. */
async function countHosts(tx: ServerTx, signal: AbortSignal): Promise<Found | null> {
  const pending = (await tx.vulnerabilityCountChanges.pick(["id"])).map(({ id }) => id);
  const known = await tx.vulnerabilities.pick(["id", "cve", "cvss_score"]);
  const isCritical = known.map(({ cvss_score }) => cvss_score >= CRITICAL_SCORE);
  const placeOf = new Map(known.map(({ cve }, place) => [cve, place]));
  const ofSoftware = new Places(placeOf);
  for await (const rows of tx.softwareCves.pages({}, PAIRS, ["software_id", "cve"]))
    for (const { software_id, cve } of rows) ofSoftware.add(software_id, cve);
  const ofSystems = new Places(placeOf);
  for await (const rows of tx.osCves.pages({}, PAIRS, ["os_version_id", "cve"]))
    for (const { os_version_id, cve } of rows) ofSystems.add(os_version_id, cve);

  const all = new Uint32Array(known.length);
  const scopes = new Map<number, Uint32Array>([[ALL_HOSTS, all]]);
  // The last host that was counted for each vulnerability, which several of its versions may have.
  const countedFor = new Uint32Array(known.length);
  const otherwiseCritical: number[] = [];
  for (let last = 0, turn = 0; !signal.aborted; ) {
    const hosts = await tx.hosts.pick(["id", "team_id", "os_version_id"], {
      where: gt("id", last),
      order: inOrder,
      limit: SLICE,
    });
    if (hosts.length === 0) return { scopes, ids: known.map(({ id }) => id), otherwiseCritical, pending };
    const where = oneOf(
      "id",
      hosts.map(({ id }) => id),
    );
    const stored = byId(await tx.hostPolicies.pick(["id", "critical_count"], { where }));
    const lists = byId(await tx.hostSoftware.pick(["id", "software_ids"], { where, transient: true }));
    for (const { id, team_id, os_version_id } of hosts) {
      const team = team_id ?? NO_TEAM;
      const own = scopes.get(team) ?? new Uint32Array(known.length);
      scopes.set(team, own);
      turn++;
      let critical = 0;
      const count = (places: readonly number[]) => {
        for (const place of places) {
          if (countedFor[place] === turn) continue;
          countedFor[place] = turn;
          all[place]!++;
          own[place]!++;
          if (isCritical[place]) critical++;
        }
      };
      for (const version of lists.get(id)?.software_ids ?? []) count(ofSoftware.of(version));
      if (os_version_id !== null) count(ofSystems.of(os_version_id));
      if (critical !== (stored.get(id)?.critical_count ?? 0)) otherwiseCritical.push(id);
    }
    last = hosts.at(-1)!.id;
    await breathe();
  }
  return null;
}

const none: readonly number[] = [];

/** The vulnerabilities of each version, as places in a list. */
class Places {
  readonly #byId = new Map<number, number[]>();
  readonly #placeOf: ReadonlyMap<string, number>;

  constructor(placeOf: ReadonlyMap<string, number>) {
    this.#placeOf = placeOf;
  }

  add(id: number, cve: string): void {
    const place = this.#placeOf.get(cve);
    if (place === undefined) return;
    const own = this.#byId.get(id);
    if (own) own.push(place);
    else this.#byId.set(id, [place]);
  }

  of(id: number): readonly number[] {
    return this.#byId.get(id) ?? none;
  }
}

/** Makes the stored counts equal to these. Returns how many differed. */
async function correct(tx: ServerTx, { scopes, ids }: Found): Promise<number> {
  const differences = new Map<number, Map<number, number>>();
  const add = (scope: number, id: number, count: number): void => {
    const sums = differences.get(scope) ?? new Map<number, number>();
    differences.set(scope, sums);
    sums.set(id, (sums.get(id) ?? 0) + count);
  };
  for (const [scope, counts] of scopes)
    for (const [place, id] of ids.entries()) if (counts[place]! > 0) add(scope, id, counts[place]!);
  for await (const rows of tx.vulnerabilityCounts.pages({}, PAIRS, ["scope", "vulnerability_id", "hosts_count"]))
    for (const { scope, vulnerability_id, hosts_count } of rows) add(scope, vulnerability_id, -hosts_count);
  let corrected = 0;
  for (const [scope, sums] of differences) {
    for (const difference of sums.values()) if (difference !== 0) corrected++;
    await addToScope(tx, scope, sums);
  }
  return corrected;
}
