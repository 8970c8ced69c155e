// How many critical vulnerabilities each host has. They are counted when differences are added, and when all hosts are
// counted; lists of hosts are sorted by them and by policies together, which is why policies keep the numbers.
import { storeCritical } from "../../../checks/policies/critical.ts";
import { giveWay, parts } from "../../../platform/core/concurrency/parts.ts";
import type { Services } from "../../../platform/core/context.ts";
import { byId } from "../../../platform/core/maps.ts";
import type { ServerTx } from "../../../platform/core/tables.ts";
import { and, gte, oneOf } from "../../../platform/store/query.ts";

/** CVSS 3 base score from which a vulnerability is critical. */
export const CRITICAL_SCORE = 9;

/** The critical CVEs among these. */
async function criticalOf(tx: ServerTx, cves: Iterable<string>): Promise<ReadonlySet<string>> {
  const critical = new Set<string>();
  for await (const batch of parts([...new Set(cves)]))
    for (const { cve } of await tx.vulnerabilities.pick(["cve"], {
      where: and(oneOf("cve", batch), gte("cvss_score", CRITICAL_SCORE)),
    }))
      critical.add(cve);
  return critical;
}

/** The critical vulnerabilities of versions. They are compared with each other: names, or places in a list. */
export interface CriticalCves {
  ofSoftware(ids: readonly number[]): Promise<ReadonlyMap<number, readonly (string | number)[]>>;
  ofSystems(ids: readonly number[]): Promise<ReadonlyMap<number, readonly (string | number)[]>>;
}

/** The vulnerabilities that are stored. */
const storedCves = (tx: ServerTx): CriticalCves => ({
  ofSoftware: (ids) =>
    criticalPairs(
      ids,
      (batch) => tx.softwareCves.pick(["software_id", "cve"], { where: oneOf("software_id", batch) }),
      ({ software_id }) => software_id,
      tx,
    ),
  ofSystems: (ids) =>
    criticalPairs(
      ids,
      (batch) => tx.osCves.pick(["os_version_id", "cve"], { where: oneOf("os_version_id", batch) }),
      ({ os_version_id }) => os_version_id,
      tx,
    ),
});

/** Hosts whose numbers are corrected in one transaction. */
const BATCH_SIZE = 50;

/**
 * Counts the critical vulnerabilities of hosts again. The hosts are read in the transaction that writes their numbers;
 * their vulnerabilities too, if they are not given. Whoever changes vulnerabilities has all hosts counted afterwards.
 */
export async function correctCritical(
  { store, clock }: Pick<Services, "clock"> & { readonly store: ServerTx },
  hostIds: readonly number[],
  criticalCves?: CriticalCves,
  signal?: AbortSignal,
): Promise<void> {
  for (let at = 0; at < hostIds.length && !signal?.aborted; at += BATCH_SIZE) {
    const batch = hostIds.slice(at, at + BATCH_SIZE);
    await store.tx((tx) =>
      storeCritical(tx, batch, clock.iso(), () => countCritical(tx, batch, criticalCves ?? storedCves(tx))),
    );
    // Without known CVEs, this is part of a transaction.
    if (criticalCves !== undefined) await giveWay();
  }
}

async function countCritical(
  tx: ServerTx,
  hostIds: readonly number[],
  { ofSoftware, ofSystems }: CriticalCves,
): Promise<Map<number, number>> {
  const hosts = await tx.hosts.pick(["id", "os_version_id"], { where: oneOf("id", hostIds) });
  const lists = byId(await tx.hostSoftware.pick(["id", "software_ids"], { where: oneOf("id", hostIds) }));
  const software = await ofSoftware([...new Set([...lists.values()].flatMap(({ software_ids }) => software_ids))]);
  const systems = await ofSystems([...new Set(hosts.flatMap(({ os_version_id }) => os_version_id ?? []))]);
  return new Map(
    hosts.map(({ id, os_version_id }) => {
      const cves = new Set(os_version_id === null ? [] : systems.get(os_version_id));
      for (const version of lists.get(id)?.software_ids ?? [])
        for (const cve of software.get(version) ?? []) cves.add(cve);
      return [id, cves.size];
    }),
  );
}

async function criticalPairs<R extends { readonly cve: string }>(
  ids: readonly number[],
  read: (ids: readonly number[]) => Promise<readonly R[]>,
  idOf: (row: R) => number,
  tx: ServerTx,
): Promise<Map<number, string[]>> {
  const cvesById = new Map<number, string[]>();
  for await (const batch of parts(ids)) {
    const rows = await read(batch);
    const critical = await criticalOf(
      tx,
      rows.map(({ cve }) => cve),
    );
    for (const row of rows)
      if (critical.has(row.cve)) cvesById.set(idOf(row), [...(cvesById.get(idOf(row)) ?? []), row.cve]);
  }
  return cvesById;
}
