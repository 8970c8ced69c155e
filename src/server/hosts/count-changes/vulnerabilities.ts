// What changes of hosts mean for the numbers of hosts that vulnerabilities affect: recorded in the transaction that
// changes the hosts, and added to the counts shortly afterwards (software/software/vulnerabilities/counts.ts).

import { channels } from "../../platform/core/channels.ts";
import { parts } from "../../platform/core/concurrency/parts.ts";
import { byId, groupBy } from "../../platform/core/maps.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { oneOf } from "../../platform/store/query.ts";
import type { RowOf } from "../../platform/store/table.ts";
import type { hosts } from "../hosts/tables.ts";
import { NO_TEAM } from "./tables.ts";

/** What may be vulnerable on a host, and the team for which it counts. */
interface ExposedHost {
  readonly team: number;
  readonly software: readonly number[];
  readonly system: number | null;
}

/** Null: the host is not counted. */
interface ExposureChange {
  readonly hostId: number;
  readonly before: ExposedHost | null;
  readonly after: ExposedHost | null;
}

/** The CVEs of software versions and operating system versions. */
interface CvesById {
  readonly software: ReadonlyMap<number, readonly string[]>;
  readonly systems: ReadonlyMap<number, readonly string[]>;
}

interface TeamChanges {
  /** By CVE. */
  readonly sums: Map<string, number>;
  /** Hosts that now have other vulnerabilities. */
  readonly hosts: number[];
}

/** Hosts that are looked at between two turns of the event loop: each may have thousands of vulnerabilities. */
const BATCH_SIZE = 50;

/** Must run in the transaction that changes the hosts. */
async function recordExposure(tx: ServerTx, changes: readonly ExposureChange[]): Promise<void> {
  const touched = await cvesOfEach(tx, changes.map(differing));
  if (touched.software.size + touched.systems.size === 0) return;
  const isAffected = (change: ExposureChange): boolean => {
    const { software, systems } = differing(change);
    return software.some((id) => touched.software.has(id)) || systems.some((id) => touched.systems.has(id));
  };
  const affected = changes.filter(isAffected);
  const cves = await cvesOfEach(
    tx,
    affected.flatMap(({ before, after }) => [before, after].map(idsOf)),
  );
  const teams = new Map<number, TeamChanges>();
  for await (const batch of parts(affected, BATCH_SIZE))
    for (const { hostId, before, after } of batch) {
      const [had, has] = [before, after].map((exposed) => cvesOf(exposed, cves)) as [Set<string>, Set<string>];
      const isSameTeam = before?.team === after?.team;
      if (before) addAll(teams, before.team, isSameTeam ? without(had, has) : had, -1);
      if (after) addAll(teams, after.team, isSameTeam ? without(has, had) : has, 1);
      if (after && isOther(had, has)) changesOf(teams, after.team).hosts.push(hostId);
    }
  await store(tx, teams);
}

interface Ids {
  readonly software: readonly number[];
  readonly systems: readonly number[];
}

const idsOf = (exposed: ExposedHost | null): Ids => ({
  software: exposed?.software ?? [],
  systems: exposed?.system == null ? [] : [exposed.system],
});

/** What the host does not have both before and after the change. */
function differing({ before, after }: ExposureChange): Ids {
  const [had, has] = [idsOf(before), idsOf(after)];
  const isSameTeam = before?.team === after?.team;
  const either = (a: readonly number[], b: readonly number[]): readonly number[] => {
    // A host that is new or deleted has one empty list; lists have each id once.
    if (a.length === 0 || b.length === 0) return a.length === 0 ? b : a;
    const [first, second] = [new Set(a), new Set(b)];
    return isSameTeam ? [...without(first, second), ...without(second, first)] : [...new Set([...first, ...second])];
  };
  return { software: either(had.software, has.software), systems: either(had.systems, has.systems) };
}

const isOther = (a: ReadonlySet<string>, b: ReadonlySet<string>): boolean =>
  a.size !== b.size || [...a].some((cve) => !b.has(cve));

const without = <T>(elements: ReadonlySet<T>, others: ReadonlySet<T>): T[] =>
  [...elements].filter((element) => !others.has(element));

async function cvesOfEach(tx: ServerTx, ids: readonly Ids[]): Promise<CvesById> {
  const software: { id: number; cve: string }[] = [];
  const systems: { id: number; cve: string }[] = [];
  for await (const batch of parts([...new Set(ids.flatMap((each) => each.software))])) {
    const rows = await tx.softwareCves.pick(["software_id", "cve"], { where: oneOf("software_id", batch) });
    for (const { software_id: id, cve } of rows) software.push({ id, cve });
  }
  for await (const batch of parts([...new Set(ids.flatMap((each) => each.systems))])) {
    const rows = await tx.osCves.pick(["os_version_id", "cve"], { where: oneOf("os_version_id", batch) });
    for (const { os_version_id: id, cve } of rows) systems.push({ id, cve });
  }
  const cvesById = (rows: readonly { id: number; cve: string }[]) =>
    new Map([...groupBy(rows, ({ id }) => id)].map(([id, ofId]) => [id, ofId.map(({ cve }) => cve)]));
  return { software: cvesById(software), systems: cvesById(systems) };
}

function cvesOf(exposed: ExposedHost | null, cves: CvesById): Set<string> {
  const cveNames = new Set<string>();
  for (const id of exposed?.software ?? []) for (const cve of cves.software.get(id) ?? []) cveNames.add(cve);
  if (exposed?.system != null) for (const cve of cves.systems.get(exposed.system) ?? []) cveNames.add(cve);
  return cveNames;
}

function changesOf(teams: Map<number, TeamChanges>, team: number): TeamChanges {
  const changes = teams.get(team) ?? { sums: new Map<string, number>(), hosts: [] };
  teams.set(team, changes);
  return changes;
}

function addAll(teams: Map<number, TeamChanges>, team: number, cves: Iterable<string>, difference: number): void {
  const { sums } = changesOf(teams, team);
  for (const cve of cves) sums.set(cve, (sums.get(cve) ?? 0) + difference);
}

async function store(tx: ServerTx, teams: ReadonlyMap<number, TeamChanges>): Promise<void> {
  const rows = [...teams]
    .map(([team, { sums, hosts }]) => ({ team, hosts, cves: [...sums].filter(([, difference]) => difference !== 0) }))
    .filter(({ cves }) => cves.length > 0);
  if (rows.length === 0) return;
  await tx.vulnerabilityCountChanges.insertMany(rows, { returning: [] });
  await tx.notify(channels.vulnerabilityCounts, "");
}

/** The differences are in the counts. */
export async function removeVulnerabilityChanges(tx: ServerTx, ids: readonly number[]): Promise<void> {
  for await (const batch of parts(ids)) await tx.vulnerabilityCountChanges.delete(oneOf("id", batch));
}

/** The hosts as they are counted now, by id. */
async function exposedHosts(tx: ServerTx, hostIds: readonly number[]): Promise<Map<number, ExposedHost>> {
  const [hosts, lists] = await Promise.all([
    systemsOf(tx, hostIds),
    tx.hostSoftware.pick(["id", "software_ids"], { where: oneOf("id", hostIds) }).then(byId),
  ]);
  return new Map(
    [...hosts.values()].map(({ id, team_id, os_version_id }) => [
      id,
      { team: team_id ?? NO_TEAM, software: lists.get(id)?.software_ids ?? [], system: os_version_id },
    ]),
  );
}

/** Moves counts of vulnerabilities. `moveSoftwareCounts` calls it. */
export async function moveExposure(
  tx: ServerTx,
  hostIds: readonly number[],
  to: number | null | "deleted",
): Promise<void> {
  const moved = [...(await exposedHosts(tx, hostIds))].map(([hostId, before]) => ({
    hostId,
    before,
    after: to === "deleted" ? null : { ...before, team: to ?? NO_TEAM },
  }));
  await recordExposure(tx, moved);
}

export interface SystemChange {
  readonly hostId: number;
  /** The operating system version before; undefined: the host is new. */
  readonly before: number | null | undefined;
}

/** The hosts that are being written with another operating system version. */
export const systemChanges = (
  hosts: readonly {
    readonly row: { readonly id: number; readonly os_version_id: number | null };
    readonly set: { readonly os_version_id?: number | null | undefined };
  }[],
): SystemChange[] =>
  hosts.flatMap(({ row, set }) =>
    set.os_version_id === undefined || set.os_version_id === row.os_version_id
      ? []
      : [{ hostId: row.id, before: row.os_version_id }],
  );

/** Counts hosts for another operating system. Call it in the transaction that writes them, right afterwards. */
export async function recordSystems(tx: ServerTx, changes: readonly SystemChange[]): Promise<void> {
  if (changes.length === 0) return;
  const hosts = await exposedHosts(
    tx,
    changes.map(({ hostId }) => hostId),
  );
  await recordExposure(
    tx,
    changes.flatMap(({ hostId, before: system }) => {
      const after = hosts.get(hostId);
      return after ? [{ hostId, before: system === undefined ? null : { ...after, system }, after }] : [];
    }),
  );
}

/** The team and operating system version of a host. */
type Host = Pick<RowOf<typeof hosts>, "id" | "team_id" | "os_version_id">;

/** The hosts, which must be locked by the transaction, by id. */
export async function systemsOf(tx: ServerTx, hostIds: readonly number[]): Promise<Map<number, Host>> {
  return byId(await tx.hosts.pick(["id", "team_id", "os_version_id"], { where: oneOf("id", hostIds) }));
}

/** Counts hosts for other software. Call it after their rows were written, with the lists before and after. */
export async function recordSoftware(
  tx: ServerTx,
  hosts: ReadonlyMap<number, Host>,
  changes: ReadonlyMap<number, { readonly before: readonly number[]; readonly after: readonly number[] }>,
): Promise<void> {
  await recordExposure(
    tx,
    [...changes].flatMap(([hostId, { before, after }]) => {
      const counted = hosts.get(hostId);
      if (!counted) return [];
      const host = { team: counted.team_id ?? NO_TEAM, system: counted.os_version_id };
      return [{ hostId, before: { ...host, software: before }, after: { ...host, software: after } }];
    }),
  );
}
