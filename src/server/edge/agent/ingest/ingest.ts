// Stores the results of distributed writes. Concurrent writes share a transaction, and only differences from the
// stored values are written.

import { writePolicies } from "../../../checks/policies/ingest.ts";
import { recordSystems, systemChanges } from "../../../hosts/count-changes/vulnerabilities.ts";
import { writeDetails } from "../../../hosts/hosts/details.ts";
import { createOsVersions, type OsVersions } from "../../../hosts/hosts/os-versions.ts";
import { writeReported } from "../../../hosts/hosts/reported.ts";
import { writeMembership } from "../../../hosts/labels/ingest.ts";
import { planErrors, writeErrors } from "../../../hosts/query-errors/errors.ts";
import { isoAt } from "../../../platform/core/clock.ts";
import { Batcher } from "../../../platform/core/concurrency/batcher.ts";
import type { Services } from "../../../platform/core/context.ts";
import { queueFigures } from "../../../platform/core/logging/metrics.ts";
import type { PlatformFamily } from "../../../platform/core/platforms.ts";
import type { ServerTx } from "../../../platform/core/tables.ts";
import { BadRow } from "../../../platform/store/rows.ts";
import { ReferenceViolation, UniqueViolation } from "../../../platform/store/store.ts";
import type { HostRow } from "../hosts/state.ts";
import { hostChanges } from "../inventory/host-fields.ts";
import { planDetails } from "./plan-details.ts";
import { planLabels } from "./plan-labels.ts";
import { planPolicyAnswers } from "./plan-policies.ts";
import type { IngestItem, PlannedWrite, QueryCaches } from "./planned-write.ts";
import { inventorySources, readSources, type Sources, startSources } from "./sources.ts";
import { refusedInventories } from "./unasked.ts";

export class Ingest {
  readonly #services: Services;
  readonly #caches: QueryCaches;
  readonly #sources: Sources;
  readonly #osVersions: OsVersions;
  readonly #batches: Batcher<IngestItem, null>;

  private constructor(services: Services, caches: QueryCaches, sources: Sources) {
    this.#services = services;
    this.#caches = caches;
    this.#sources = sources;
    this.#osVersions = createOsVersions(services);
    this.#batches = new Batcher<IngestItem, null>((items) => this.#storeOrRetry(items), {
      // One batch is planned while others wait for the disk or for Postgres.
      size: services.store.engine === "lowdb" ? 8 : 16,
      parallel: 3,
      key: ({ state }) => state.id,
      figures: queueFigures(services.metrics, "results"),
    });
  }

  static async start(services: Services, caches: QueryCaches): Promise<Ingest> {
    return new Ingest(services, caches, await startSources(services));
  }

  async add(item: IngestItem, since: number): Promise<void> {
    try {
      await this.#batches.add(item, since);
    } catch (error) {
      // The agent would resend results that fail permanently, and none of its later ones would be stored.
      if (!(error instanceof BadRow || error instanceof ReferenceViolation)) throw error;
      this.#services.log.error({ err: error, host_id: item.state.id }, "results of a host could not be stored");
    }
  }

  async stop(): Promise<void> {
    await this.#batches.idle();
    await this.#sources.stop();
  }

  async #storeOrRetry(items: readonly IngestItem[]): Promise<null[]> {
    try {
      await this.#storeBatch(items);
    } catch (error) {
      if (!(error instanceof ReferenceViolation || error instanceof UniqueViolation)) throw error;
      // A label, OS version or host was deleted, or another server wrote first: drop the cached rows and retry.
      this.#caches.labels.forget();
      this.#caches.policies.forget();
      this.#osVersions.forget();
      this.#sources.forget();
      await this.#storeBatch(items);
    }
    return items.map(() => null);
  }

  async #storeBatch(items: readonly IngestItem[]): Promise<void> {
    const { store, clock, settings } = this.#services;
    const doubts = new Map(items.map(({ state }) => [state, state.doubts]));
    const planned = await this.#planHosts(items);
    const write = await this.#planWrite(planned, clock.now());
    const notified = await store.tx(write, { failFast: true });
    for (const { item } of planned) if (item.results.policiesReported) item.state.sentPoliciesRevision = null;
    for (const { item, row, set } of planned) {
      const { state } = item;
      if (!state.live) continue;
      state.load({ ...row, ...set }, settings);
      // The row was also changed by others while the results were processed. The notification of this change has arrived
      // too, and causes no reading.
      const ownNotices = notified.has(row.id) ? 1 : 0;
      if (state.doubts !== doubts.get(state)! + ownNotices) state.fresh = false;
    }
  }

  /** Plans everything that the batch changes; the returned function writes it. */
  async #planWrite(
    planned: readonly PlannedWrite[],
    now: number,
  ): Promise<(tx: ServerTx) => Promise<ReadonlySet<number>>> {
    const { store } = this.#services;
    const { configs, labels, policies } = this.#caches;
    const [detailRows, others] = await Promise.all([
      planDetails(store, configs, planned),
      this.#sources.plan(
        planned.flatMap(({ row, values }) => (values ? [{ hostId: row.id, values: values.values }] : [])),
        now,
      ),
    ]);
    const { membership, reports: labelReports } = await planLabels(store, labels, planned);
    const { plan: answers, reports: policyReports } = await planPolicyAnswers(store, policies, planned);
    const errors = await planErrors(store, [...labelReports, ...policyReports], { at: isoAt(now) });
    for (const { row, set } of planned) Object.assign(set, others.hostFields(row.id));
    return async (tx) => {
      const notified = await writeReported(
        tx,
        now,
        planned.map(({ row, set }) => ({ row, set })),
      );
      await recordSystems(tx, systemChanges(planned));
      await writeDetails(tx, detailRows);
      await others.write(tx);
      await writeMembership(tx, membership);
      if (answers) await writePolicies(tx, answers, now);
      if (errors) await writeErrors(tx, errors);
      return notified;
    };
  }

  /** Plans the changes of the hosts' own rows. Hosts that were deleted are left out. */
  async #planHosts(items: readonly IngestItem[]): Promise<PlannedWrite[]> {
    const hosts = await this.#services.store.hosts.getMany(items.map(({ state }) => state.id));
    const rows = new Map(hosts.map((row) => [row.id, row]));
    const planned: PlannedWrite[] = [];
    for (const item of await this.#withoutRefused(items, rows)) {
      const row = rows.get(item.state.id);
      if (row) planned.push(this.#planHost(item, row));
    }
    await this.#planSystems(planned);
    return planned;
  }

  /** Leaves out inventories that were not asked for, and are too many. */
  async #withoutRefused(items: readonly IngestItem[], rows: ReadonlyMap<number, HostRow>): Promise<IngestItem[]> {
    const sent = items.flatMap(({ state, results: { details, additional }, length }) => {
      const row = rows.get(state.id);
      return row && details.size + additional.size > 0 ? [{ row, length }] : [];
    });
    const refused = await refusedInventories(this.#services, sent);
    return items.map((item) =>
      refused.has(item.state.id)
        ? { ...item, results: { ...item.results, details: new Map(), additional: new Map() } }
        : item,
    );
  }

  async #planSystems(planned: readonly PlannedWrite[]): Promise<void> {
    const systems = await this.#osVersions.ids(
      planned.flatMap(({ row, changes }) => (changes?.os ? [{ hostId: row.id, system: changes.os }] : [])),
    );
    for (const { changes, set } of planned) {
      if (!changes?.os) continue;
      const id = systems.of(changes.os);
      if (id !== undefined) set.os_version_id = id;
      else delete set.os_version;
    }
  }

  #planHost(item: IngestItem, row: HostRow): PlannedWrite {
    const { results } = item;
    const now = this.#services.clock.now();
    const { changes, values } = this.#readInventory(item, row, now);
    const set: Partial<HostRow> = { ...changes?.set, ...values?.set };
    // Failed queries count as reported: otherwise a host whose tables fail would get all detail queries at every poll.
    if ([...results.details.keys()].some((name) => !this.#caches.details.byName.get(name)?.critical)) {
      set.detail_updated_at = isoAt(now);
      // The first detail queries were sent before the platform was known, so request those of the platform next.
      set.refetch_requested = row.platform === "" && (set.platform ?? "") !== "" && row.refetch_requested;
    }
    if (results.labelsReported) set.label_updated_at = isoAt(now);
    if (results.allPoliciesReported) set.policy_updated_at = isoAt(now);
    // The host may now match more policies.
    if (set.platform !== undefined && set.platform !== row.platform && row.policies_revision !== null)
      set.policies_revision = 0;
    return { item, row, set, changes, values };
  }

  #readInventory(
    { results, address }: IngestItem,
    row: HostRow,
    now: number,
  ): Pick<PlannedWrite, "changes" | "values"> {
    if (results.details.size === 0) return { changes: null, values: null };
    const { extensions, metrics, log } = this.#services;
    const { details } = this.#caches;
    const applies = (query: string, family: PlatformFamily) => details.answersFor(query, family);
    const changes = hostChanges(results.details, applies, { stored: row, now, publicIp: address });
    const values = readSources(extensions.of(inventorySources), changes.answers, (query, err) => {
      metrics.inventoryFailures.inc({ query });
      log.error({ err, host_id: row.id, query }, "a part of a host's inventory could not be read; the rest is stored");
    });
    for (const { query, reason } of changes.warnings)
      log.debug({ host_id: row.id, query, reason }, "part of an inventory was ignored");
    return { changes, values };
  }
}
