// On how many hosts each title and version is: for all hosts, for each team, and for hosts without a team. Transactions
// that change hosts record differences (hosts/count-changes/), which one of the servers adds to the counts shortly
// afterwards.

import { addFlat, removeSoftwareChanges, type Sums, type TeamSums } from "../../hosts/count-changes/software.ts";
import { ALL_HOSTS, NO_TEAM } from "../../hosts/count-changes/tables.ts";
import { teamsOfHosts } from "../../hosts/hosts/reads.ts";
import { channels } from "../../platform/core/channels.ts";
import { isoAt, minutes, seconds } from "../../platform/core/clock.ts";
import { parts } from "../../platform/core/concurrency/parts.ts";
import { startTriggeredTask } from "../../platform/core/concurrency/triggered-task.ts";
import type { Services } from "../../platform/core/context.ts";
import { asCounts, countOf } from "../../platform/core/counts.ts";
import { startedPart } from "../../platform/core/running.ts";
import type { ServerStore, ServerTx } from "../../platform/core/tables.ts";
import { and, eq, gt, oneOf } from "../../platform/store/query.ts";
import type { RowOf } from "../../platform/store/table.ts";
import type { softwareCountState } from "./tables.ts";
import { removeLostSoftware } from "./unused.ts";

/** Lock for transactions that change counts. */
const LOCK = "software_counts";

/** Recorded differences that are added in one transaction. */
const WRITE_BATCH_SIZE = 200;
const inOrder = [{ column: "id", direction: "asc" }] as const;

type State = RowOf<typeof softwareCountState>;

const stateOf = (tx: ServerTx): Promise<State | null> => tx.softwareCountState.first({});

async function changeState(tx: ServerTx, before: State | null, set: Partial<Omit<State, "id">>): Promise<void> {
  if (before) await tx.softwareCountState.update({ where: eq("id", before.id), set });
  else
    await tx.softwareCountState.insert({
      counted_at: null,
      recounted_at: null,
      recount_until: null,
      generation: 0,
      ...set,
    });
}

/** When the counts were last right. Null before the first time. */
export async function countedAt(tx: ServerTx): Promise<string | null> {
  return (await stateOf(tx))?.counted_at ?? null;
}

/**
 * Adds one batch of recorded differences to the counts, and deletes the versions that have lost their last host by them.
 * Returns whether more may remain.
 */
export async function addSoftwareCounts({ store, clock }: Pick<Services, "store" | "clock">): Promise<boolean> {
  if ((await store.softwareCountChanges.pick(["id"], { limit: 1 })).length === 0) return false;
  const now = clock.iso();
  const { mayRemain, lost } = await store.tx(
    async (tx) => {
      const nothing = { mayRemain: false, lost: [] };
      const state = await stateOf(tx);
      if (state?.recount_until && state.recount_until > now) return nothing;
      const waiting = await tx.softwareCountChanges.list({ order: inOrder, limit: WRITE_BATCH_SIZE });
      if (waiting.length === 0) return nothing;
      const scopes = sumsByScope(waiting);
      for (const [scope, sums] of scopes) await addToScope(tx, scope, sums);
      await removeSoftwareChanges(tx, waiting);
      await changeState(tx, state, { counted_at: now, generation: (state?.generation ?? 0) + 1 });
      // A version that came and went within the batch has a sum of zero.
      const lost = [...scopes.get(ALL_HOSTS)!.versions].filter(([, sum]) => sum <= 0).map(([id]) => id);
      return { mayRemain: waiting.length === WRITE_BATCH_SIZE, lost };
    },
    { lock: LOCK },
  );
  await removeLostSoftware({ store }, lost);
  return mayRemain;
}

/** The differences of each team, and of all hosts together. */
function sumsByScope(
  rows: readonly { team: number; versions: readonly number[]; titles: readonly number[] }[],
): Map<number, TeamSums> {
  const scopes = new Map<number, TeamSums>([[ALL_HOSTS, { versions: new Map(), titles: new Map() }]]);
  for (const { team, versions, titles } of rows) {
    if (!scopes.has(team)) scopes.set(team, { versions: new Map(), titles: new Map() });
    for (const scope of [ALL_HOSTS, team]) {
      addFlat(scopes.get(scope)!.versions, versions);
      addFlat(scopes.get(scope)!.titles, titles);
    }
  }
  return scopes;
}

async function addToScope(tx: ServerTx, scope: number, { versions, titles }: TeamSums): Promise<void> {
  const touched = await addVersions(tx, scope, versions);
  for (const [id, difference] of titles) if (difference !== 0) touched.add(id);
  await addTitles(tx, scope, touched, titles);
}

/** Returns the titles that have got or lost a version. */
async function addVersions(tx: ServerTx, scope: number, sums: Sums): Promise<Set<number>> {
  const changed = [...sums].filter(([, difference]) => difference !== 0).map(([id]) => id);
  const touched = new Set<number>();
  for await (const batch of parts(changed)) {
    const where = and(eq("scope", scope), oneOf("software_id", batch));
    const rows = await tx.softwareVersionCounts.pick(["id", "software_id", "title_id", "hosts_count"], { where });
    const rowsByVersion = new Map(rows.map((row) => [row.software_id, row]));
    const next = rows.map((row) => ({ ...row, hosts_count: row.hosts_count + sums.get(row.software_id)! }));
    const fresh = batch.filter((id) => !rowsByVersion.has(id) && sums.get(id)! > 0);
    const versions = await tx.software.pick(["id", "title_id", "name"], { where: oneOf("id", fresh) });
    const gone = next.filter(({ hosts_count }) => hosts_count <= 0);
    for (const { title_id } of [...gone, ...versions]) touched.add(title_id);
    await tx.softwareVersionCounts.delete(oneOf("id", idsOf(gone)));
    await tx.softwareVersionCounts.updateEach(
      next.filter(({ hosts_count }) => hosts_count > 0).map(({ id, hosts_count }) => ({ id, hosts_count })),
    );
    await tx.softwareVersionCounts.insertMany(
      versions.map(({ id, title_id, name }) => ({
        software_id: id,
        title_id,
        scope,
        name,
        hosts_count: sums.get(id)!,
      })),
      { returning: [] },
    );
  }
  return touched;
}

const idsOf = (rows: readonly { id: number }[]): number[] => rows.map(({ id }) => id);

async function addTitles(tx: ServerTx, scope: number, titleIds: ReadonlySet<number>, sums: Sums): Promise<void> {
  for await (const batch of parts([...titleIds])) {
    const where = and(eq("scope", scope), oneOf("title_id", batch));
    const versions = asCounts(await tx.softwareVersionCounts.groupCount("title_id", where));
    const rows = await tx.softwareTitleCounts.pick(["id", "title_id", "hosts_count"], { where });
    const countedTitles = new Set(rows.map(({ title_id }) => title_id));
    const next = rows.map(({ id, title_id, hosts_count }) => ({
      id,
      hosts_count: hosts_count + countOf(sums, title_id),
      versions_count: countOf(versions, title_id),
    }));
    const fresh = batch.filter((id) => !countedTitles.has(id) && countOf(sums, id) > 0);
    const titles = await tx.softwareTitles.pick(["id", "name"], { where: oneOf("id", fresh) });
    await tx.softwareTitleCounts.delete(oneOf("id", idsOf(next.filter(({ hosts_count }) => hosts_count <= 0))));
    await tx.softwareTitleCounts.updateEach(next.filter(({ hosts_count }) => hosts_count > 0));
    await tx.softwareTitleCounts.insertMany(
      titles.map(({ id, name }) => ({
        title_id: id,
        scope,
        name,
        hosts_count: countOf(sums, id),
        versions_count: countOf(versions, id),
      })),
      { returning: [] },
    );
  }
}

/** For how long differences wait at most while a server counts all hosts. */
const RECOUNT_TIME = minutes(10);
/** Hosts that are read at once. */
const BATCH_SIZE = 500;

/**
 * Counts the software of all hosts: at the first start, and to correct deviations. Returns versions that hosts refer to
 * but that do not exist, or null if the signal aborted.
 */
export async function recountSoftware(
  { store, clock, log }: Pick<Services, "store" | "clock" | "log">,
  signal: AbortSignal,
): Promise<number[] | null> {
  const generation = await store.tx(
    async (tx) => {
      const state = await stateOf(tx);
      const set = { recount_until: isoAt(clock.now() + RECOUNT_TIME), generation: (state?.generation ?? 0) + 1 };
      await changeState(tx, state, set);
      return set.generation;
    },
    { lock: LOCK },
  );
  try {
    const now = clock.iso();
    const counted = await store.tx((tx) => countHosts(tx, signal), { snapshot: true });
    if (counted === null) return null;
    const unknown = await unknownVersions(store, counted.scopes.get(ALL_HOSTS)!.versions);
    await store.tx(
      async (tx) => {
        const state = await stateOf(tx);
        if (state?.generation !== generation) return;
        const corrected = await correct(tx, counted.scopes);
        if (state.recounted_at !== null && corrected > 0) log.warn({ corrected }, "counts of software were corrected");
        // Changes by transactions whose hosts have just been counted.
        await removeSoftwareChanges(tx, counted.pending);
        await changeState(tx, state, { counted_at: now, recounted_at: now, generation: generation + 1 });
      },
      { lock: LOCK },
    );
    return unknown;
  } finally {
    await store.tx(
      async (tx) => {
        const state = await stateOf(tx);
        if (state) await changeState(tx, state, { recount_until: null });
        await tx.notify(channels.softwareCounts, "");
      },
      { lock: LOCK },
    );
  }
}

interface CountedSums {
  readonly scopes: Map<number, TeamSums>;
  /** Differences that were recorded before. */
  readonly pending: readonly { id: number }[];
}

/** Null if the signal aborted. */
async function countHosts(tx: ServerTx, signal: AbortSignal): Promise<CountedSums | null> {
  const scopes = new Map<number, TeamSums>([[ALL_HOSTS, { versions: new Map(), titles: new Map() }]]);
  const pending = await tx.softwareCountChanges.pick(["id"]);
  for (let last = 0; !signal.aborted; ) {
    const slice = await tx.hostSoftware.pick(["id", "software_ids", "title_ids"], {
      where: gt("id", last),
      order: inOrder,
      limit: BATCH_SIZE,
      transient: true,
    });
    if (slice.length === 0) return { scopes, pending };
    const teams = await teamsOfHosts(tx, idsOf(slice));
    for (const { id, software_ids, title_ids } of slice) {
      const team = teams.get(id) ?? NO_TEAM;
      if (!scopes.has(team)) scopes.set(team, { versions: new Map(), titles: new Map() });
      for (const scope of [ALL_HOSTS, team]) {
        const { versions, titles } = scopes.get(scope)!;
        for (const id of software_ids) versions.set(id, countOf(versions, id) + 1);
        for (const id of title_ids) titles.set(id, countOf(titles, id) + 1);
      }
    }
    last = slice.at(-1)!.id;
  }
  return null;
}

async function unknownVersions(store: ServerStore, versions: Sums): Promise<number[]> {
  const unknown: number[] = [];
  for await (const batch of parts([...versions.keys()])) {
    const existing = new Set(idsOf(await store.software.pick(["id"], { where: oneOf("id", batch) })));
    for (const id of batch) if (!existing.has(id)) unknown.push(id);
  }
  return unknown;
}

/** Makes the stored counts equal to these. Returns how many differed. */
async function correct(tx: ServerTx, scopes: ReadonlyMap<number, TeamSums>): Promise<number> {
  let corrected = 0;
  const differences = new Map(
    [...scopes].map(([scope, { versions, titles }]) => [
      scope,
      { versions: new Map(versions), titles: new Map(titles) },
    ]),
  );
  const sumsIn = (scope: number): TeamSums => {
    const cached = differences.get(scope);
    if (cached) return cached;
    const teamSums = { versions: new Map<number, number>(), titles: new Map<number, number>() };
    differences.set(scope, teamSums);
    return teamSums;
  };
  for await (const rows of tx.softwareVersionCounts.pages({}, undefined, ["scope", "software_id", "hosts_count"]))
    for (const { scope, software_id, hosts_count } of rows)
      addFlat(sumsIn(scope).versions, [software_id, -hosts_count]);
  for await (const rows of tx.softwareTitleCounts.pages({}, undefined, ["scope", "title_id", "hosts_count"]))
    for (const { scope, title_id, hosts_count } of rows) addFlat(sumsIn(scope).titles, [title_id, -hosts_count]);
  for (const [scope, sums] of differences) {
    for (const difference of [...sums.versions.values(), ...sums.titles.values()]) if (difference !== 0) corrected++;
    await addToScope(tx, scope, sums);
  }
  return corrected;
}

interface SoftwareCounts {
  /** Adds all recorded differences now. */
  flush(): Promise<void>;
  stop(): Promise<void>;
}

export const softwareCounts = startedPart("software counts", startSoftwareCounts);

async function startSoftwareCounts(services: Services): Promise<SoftwareCounts> {
  const adding = await startTriggeredTask(
    services,
    {
      channel: channels.softwareCounts,
      least: seconds(1),
      more: seconds(1),
      // While many hosts change, most changes are of the same counts.
      apart: seconds(15),
      failure: "counts of software could not be updated",
    },
    async () => {
      while (await addSoftwareCounts(services));
    },
  );
  return { flush: adding.run, stop: adding.stop };
}
