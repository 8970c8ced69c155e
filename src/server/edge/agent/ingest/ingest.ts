// Stores the results of distributed writes. Concurrent writes share a transaction, and only differences from the
// stored values are written.

import type { PolicyCache } from "../../../checks/policies/cache.ts";
import {
  type PlannedAnswers,
  type PolicyAnswers,
  planPolicies,
  writePolicies,
} from "../../../checks/policies/ingest.ts";
import { recordSystems, systemChanges } from "../../../hosts/count-changes/vulnerabilities.ts";
import { type HostDetailsRow, writeDetails } from "../../../hosts/hosts/details.ts";
import { detailRowOf } from "../../../hosts/hosts/inventory/details.ts";
import { createOsVersions } from "../../../hosts/hosts/os-versions.ts";
import { writeReported } from "../../../hosts/hosts/reported.ts";
import type { LabelCache } from "../../../hosts/labels/dynamic.ts";
import { type Membership, writeMembership } from "../../../hosts/labels/ingest.ts";
import { reaches } from "../../../hosts/labels/reach.ts";
import { type HostErrors, planErrors, writeErrors } from "../../../hosts/query-errors/errors.ts";
import type { AgentRow } from "../../../platform/agent-protocol/rows.ts";
import { isoAt } from "../../../platform/core/clock.ts";
import { Batcher } from "../../../platform/core/concurrency/batcher.ts";
import type { Services } from "../../../platform/core/context.ts";
import { queueFigures } from "../../../platform/core/logging/metrics.ts";
import type { ServerTx } from "../../../platform/core/tables.ts";
import { oneOf } from "../../../platform/store/query.ts";
import { BadRow } from "../../../platform/store/rows.ts";
import { ReferenceViolation, UniqueViolation } from "../../../platform/store/store.ts";
import type { ConfigCache } from "../config.ts";
import type { HostRow, HostState } from "../hosts/state.ts";
import type { DetailQueries } from "../inventory/detail-queries.ts";
import { type HostChanges, hostChanges } from "../inventory/host-fields.ts";
import type { WriteResults } from "./results.ts";
import { inventorySources, readSources, type SourceValues, startSources } from "./sources.ts";
import { refusedInventories } from "./unasked.ts";

interface IngestItem {
  readonly state: HostState;
  readonly address: string;
  readonly results: WriteResults;
  /** The length of the message. */
  readonly length: number;
}

interface Ingest {
  add(item: IngestItem, since: number): Promise<void>;
  stop(): Promise<void>;
}

interface PlannedWrite {
  readonly item: IngestItem;
  readonly row: HostRow;
  readonly set: Partial<HostRow>;
  readonly changes: HostChanges | null;
  readonly values: SourceValues | null;
}

interface PlannedLabels {
  readonly membership: Membership;
  readonly reports: readonly HostErrors[];
}

export async function createIngest(
  services: Services,
  caches: {
    readonly configs: ConfigCache;
    readonly labels: LabelCache;
    readonly policies: PolicyCache;
    readonly details: DetailQueries;
  },
): Promise<Ingest> {
  const { store, settings, log } = services;
  const sources = await startSources(services);
  const osVersions = createOsVersions(services);

  function planHost(item: IngestItem, row: HostRow): Omit<PlannedWrite, "row"> {
    const { results } = item;
    const now = services.clock.now();
    const set: Partial<HostRow> = {};
    let changes: HostChanges | null = null;
    let values: SourceValues | null = null;
    if (results.details.size > 0) {
      changes = hostChanges(results.details, caches.details.answersFor, { stored: row, now, publicIp: item.address });
      values = readSources(services.extensions.of(inventorySources), changes.answers, (query, err) => {
        services.metrics.inventoryFailures.inc({ query });
        log.error(
          { err, host_id: row.id, query },
          "a part of a host's inventory could not be read; the rest is stored",
        );
      });
      Object.assign(set, changes.set, values.set);
      for (const { query, reason } of changes.warnings)
        log.debug({ host_id: row.id, query, reason }, "part of an inventory was ignored");
    }
    // Failed queries count as reported: otherwise a host whose tables fail would get all detail queries at every poll.
    if ([...results.details.keys()].some((name) => !caches.details.byName.get(name)?.critical)) {
      set.detail_updated_at = isoAt(now);
      // The first detail queries were sent before the platform was known, so request those of the platform next.
      set.refetch_requested = row.platform === "" && (set.platform ?? "") !== "" && row.refetch_requested;
    }
    if (results.labelsReported) set.label_updated_at = isoAt(now);
    if (results.allPoliciesReported) set.policy_updated_at = isoAt(now);
    // The host may now match more policies.
    if (set.platform !== undefined && set.platform !== row.platform && row.policies_revision !== null)
      set.policies_revision = 0;
    return { item, set, changes, values };
  }

  async function run(items: readonly IngestItem[]): Promise<null[]> {
    const doubts = new Map(items.map(({ state }) => [state, state.doubts]));
    const rows = new Map((await store.hosts.getMany(items.map(({ state }) => state.id))).map((row) => [row.id, row]));
    const planned: PlannedWrite[] = [];
    for (const item of await withoutRefused(items, rows)) {
      const row = rows.get(item.state.id);
      if (row) planned.push({ ...planHost(item, row), row });
    }
    await planSystems(planned);

    const now = services.clock.now();
    const [detailRows, others] = await Promise.all([
      planDetails(planned),
      sources.plan(
        planned.flatMap(({ row, values }) => (values ? [{ hostId: row.id, values: values.values }] : [])),
        now,
      ),
    ]);
    const { membership, reports: labelReports } = await planLabels(planned);
    const { plan: policies, reports: policyReports } = await planPolicyAnswers(planned);
    const errors = await planErrors(store, [...labelReports, ...policyReports], { at: isoAt(now) });
    for (const { row, set } of planned) Object.assign(set, others.hostFields(row.id));
    const write = async (tx: ServerTx) => {
      const notified = await writeReported(
        tx,
        now,
        planned.map(({ row, set }) => ({ row, set })),
      );
      await recordSystems(tx, systemChanges(planned));
      await writeDetails(tx, detailRows);
      await others.write(tx);
      await writeMembership(tx, membership);
      if (policies) await writePolicies(tx, policies, now);
      if (errors) await writeErrors(tx, errors);
      return notified;
    };
    const notified = await store.tx(write, { failFast: true });
    for (const { item } of planned) if (item.results.policiesReported) item.state.policiesAsked = null;
    for (const { item, row, set } of planned) {
      const { state } = item;
      if (!state.live) continue;
      state.load({ ...row, ...set }, settings);
      // The row was also changed by others while the results were processed. The notification of this change has arrived
      // too, and causes no reading.
      const ownNotices = notified.has(row.id) ? 1 : 0;
      if (state.doubts !== doubts.get(state)! + ownNotices) state.fresh = false;
    }
    return items.map(() => null);
  }

  /** Leaves out inventories that were not asked for, and are too many. */
  async function withoutRefused(
    items: readonly IngestItem[],
    rows: ReadonlyMap<number, HostRow>,
  ): Promise<IngestItem[]> {
    const sent = items.flatMap(({ state, results: { details, additional }, length }) => {
      const row = rows.get(state.id);
      return row && details.size + additional.size > 0 ? [{ row, length }] : [];
    });
    const refused = await refusedInventories(services, sent);
    return items.map((item) =>
      refused.has(item.state.id)
        ? { ...item, results: { ...item.results, details: new Map(), additional: new Map() } }
        : item,
    );
  }

  async function planSystems(planned: readonly PlannedWrite[]): Promise<void> {
    const systems = await osVersions.ids(
      planned.flatMap(({ row, changes }) => (changes?.os ? [{ hostId: row.id, system: changes.os }] : [])),
    );
    for (const { changes, set } of planned) {
      if (!changes?.os) continue;
      const id = systems.of(changes.os);
      if (id !== undefined) set.os_version_id = id;
      else delete set.os_version;
    }
  }

  /** Plans policy answers, and sets the policy revision that each host has now reported. */
  async function planPolicyAnswers(planned: readonly PlannedWrite[]): Promise<PlannedAnswers> {
    const reporting = planned.filter(({ item }) => item.results.policiesReported);
    if (reporting.length === 0) return { plan: null, reports: [] };
    const newest = reporting.reduce((most, { item }) => Math.max(most, item.results.policiesRevision ?? 0), 0);
    const answered = new Set(reporting.flatMap(({ item }) => [...item.results.policies.keys()]));
    const snapshot = await caches.policies.covering(newest, answered);
    const items = reporting.map(({ item: { results, state }, row, set }): PolicyAnswers => {
      const host = {
        id: row.id,
        team_id: row.team_id,
        platform: set.platform ?? row.platform,
        platform_like: set.platform_like ?? row.platform_like,
      };
      const revision = results.policiesRevision ?? state.policiesAsked;
      const upTo = Math.min(revision ?? snapshot.for(host).revision, snapshot.revision);
      set.policies_revision = Math.max(row.policies_revision ?? 0, upTo);
      const isWritten = (["policy_updated_at", "policies_revision"] as const).some(
        (column) => set[column] !== undefined && set[column] !== row[column],
      );
      const { policies: answers, policyErrors, allPoliciesReported: isWhole } = results;
      return { host, answers, errors: policyErrors, isWhole, askedRevision: revision, isWritten };
    });
    return planPolicies(store, snapshot, items);
  }

  async function planDetails(planned: readonly PlannedWrite[]): Promise<HostDetailsRow[]> {
    const reporting = planned.filter(({ item, values }) => values !== null || item.results.additional.size > 0);
    if (reporting.length === 0) return [];
    const old = new Map(
      (await store.hostDetails.getMany(reporting.map(({ row }) => row.id))).map((row) => [row.id, row]),
    );
    const changed: HostDetailsRow[] = [];
    for (const { item, row, values } of reporting) {
      const additional = await configured(row.team_id, item.results.additional);
      const existing = old.get(row.id);
      const after = detailRowOf(row.id, existing, {
        ...values?.details,
        ...(Object.keys(additional).length === 0 ? {} : { additional: { ...existing?.additional, ...additional } }),
      });
      if (after) changed.push(after);
    }
    return changed;
  }

  /** Keeps only configured additional queries: agents may send names that were never requested. */
  async function configured(teamId: number | null, reported: ReadonlyMap<string, readonly AgentRow[]>) {
    if (reported.size === 0) return {};
    const additionalQueries = (await caches.configs.get(teamId)).features.additional_queries ?? {};
    return Object.fromEntries([...reported].filter(([name]) => Object.hasOwn(additionalQueries, name)));
  }

  async function planLabels(planned: readonly PlannedWrite[]): Promise<PlannedLabels> {
    const join: Membership["join"][number][] = [];
    const leave: Membership["leave"][number][] = [];
    const reporting = planned.filter(({ item }) => item.results.labelsReported);
    const reports: HostErrors[] = [];
    if (reporting.length === 0) return { membership: { join, leave }, reports };
    const newest = reporting.reduce((most, { item }) => Math.max(most, item.results.labelsRevision ?? 0), 0);
    const answered = new Set(
      reporting.flatMap(({ item: { results } }) => [...results.labels.keys(), ...results.labelErrors.keys()]),
    );
    const { byId } = await caches.labels.covering(newest, answered);
    const members = await store.labelMembers.list({
      where: oneOf(
        "host_id",
        reporting.map(({ row }) => row.id),
      ),
    });
    const memberships = new Map(members.map((member) => [`${member.host_id} ${member.label_id}`, member.id]));
    const isAsked = (labelId: number, teamId: number | null) => reaches(byId.get(labelId)?.asked_teams ?? null, teamId);
    // Labels of the previous team no longer apply after a transfer.
    const teams = new Map(reporting.map(({ row }) => [row.id, row.team_id]));
    for (const { id, host_id, label_id } of members)
      if (!isAsked(label_id, teams.get(host_id) ?? null)) leave.push({ id, label_id, host_id, revision: null });
    for (const { item, row, set } of reporting) {
      const { labelErrors, labelsRevision } = item.results;
      const isCurrent = (id: number) =>
        labelsRevision === null || (byId.get(id)?.asked_revision ?? 0) <= labelsRevision;
      const errors = [...labelErrors].filter(([id]) => byId.has(id) && isAsked(id, row.team_id) && isCurrent(id));
      reports.push({ hostId: row.id, of: "label_id", errors: new Map(errors), succeeded: "all" });
      for (const [labelId, isMember] of item.results.labels) {
        const label = byId.get(labelId);
        if (!label || !isAsked(labelId, row.team_id)) continue;
        // The result is for an outdated label query; the host is queried again at its next poll.
        const revision = item.results.labelsRevision;
        if (revision !== null && label.asked_revision > revision) {
          set.label_updated_at = null;
          continue;
        }
        const membershipId = memberships.get(`${row.id} ${labelId}`);
        if (isMember && membershipId === undefined) join.push({ label_id: labelId, host_id: row.id, revision });
        else if (!isMember && membershipId !== undefined)
          leave.push({ id: membershipId, label_id: labelId, host_id: row.id, revision });
      }
    }
    return { membership: { join, leave }, reports };
  }

  const guarded = async (items: readonly IngestItem[]): Promise<null[]> => {
    try {
      return await run(items);
    } catch (error) {
      if (!(error instanceof ReferenceViolation || error instanceof UniqueViolation)) throw error;
      // A label, OS version or host was deleted, or another server wrote first: drop the cached rows and retry.
      caches.labels.forget();
      caches.policies.forget();
      osVersions.forget();
      sources.forget();
      return run(items);
    }
  };
  const batches = new Batcher<IngestItem, null>(guarded, {
    // One batch is planned while others wait for the disk or for Postgres.
    size: store.engine === "lowdb" ? 8 : 16,
    parallel: 3,
    key: ({ state }) => state.id,
    figures: queueFigures(services.metrics, "results"),
  });

  return {
    async add(item, since) {
      try {
        await batches.add(item, since);
      } catch (error) {
        // The agent would resend results that fail permanently, and none of its later ones would be stored.
        if (!(error instanceof BadRow || error instanceof ReferenceViolation)) throw error;
        log.error({ err: error, host_id: item.state.id }, "results of a host could not be stored");
      }
    },
    async stop() {
      await batches.idle();
      await sources.stop();
    },
  };
}
