// What distributed writes bring goes into the store: hosts that answer at the same time share a transaction, and only what
// differs from what was known is written.
import { isoAt } from "../core/clock.ts";
import type { Services } from "../core/context.ts";
import type { LabelCache } from "../labels/dynamic.ts";
import { createMdmIngest } from "../mdm/ingest.ts";
import { createMunkiIngest } from "../munki/ingest.ts";
import type { PolicyCache } from "../policies/cache.ts";
import { planPolicies, writePolicies } from "../policies/ingest.ts";
import { createSoftwareIngest } from "../software/ingest.ts";
import { oneOf } from "../store/query.ts";
import { BadRow } from "../store/rows.ts";
import { ReferenceViolation, UniqueViolation } from "../store/store.ts";
import { createBatcher } from "./batcher.ts";
import type { ConfigCache } from "./config.ts";
import { detailRowOf, type HostDetailsRow } from "./host-details.ts";
import type { HostRow, HostState } from "./host-state.ts";
import { type Membership, writeAnswers } from "./ingest-write.ts";
import { type HostChanges, hostChanges } from "./inventory/host-fields.ts";
import { detailQueries } from "./inventory/queries.ts";
import type { Row } from "./inventory/rows.ts";
import { createOsVersions } from "./os-versions.ts";
import type { WriteResults } from "./results.ts";

export interface IngestItem {
  readonly state: HostState;
  readonly address: string;
  readonly results: WriteResults;
}

export interface Ingest {
  add(item: IngestItem): Promise<void>;
  stop(): Promise<void>;
}

interface Planned {
  readonly item: IngestItem;
  readonly row: HostRow;
  readonly set: Partial<HostRow>;
  readonly changes: HostChanges | null;
}

const critical = new Set(detailQueries.flatMap(({ name, critical }) => (critical ? [name] : [])));

export async function createIngest(
  services: Services,
  caches: { readonly configs: ConfigCache; readonly labels: LabelCache; readonly policies: PolicyCache },
): Promise<Ingest> {
  const { store, settings, log } = services;
  const software = await createSoftwareIngest(services);
  const osVersions = createOsVersions(store);
  const mdm = createMdmIngest(store);
  const munki = await createMunkiIngest(store);

  function planHost(item: IngestItem, row: HostRow): Omit<Planned, "row"> {
    const { results } = item;
    const now = services.clock.now();
    const set: Partial<HostRow> = {};
    let changes: HostChanges | null = null;
    if (results.details.size > 0) {
      changes = hostChanges(results.details, { known: row, now, publicIp: item.address });
      Object.assign(set, changes.set);
      for (const { query, reason } of changes.warnings)
        log.debug({ host_id: row.id, query, reason }, "a part of an inventory was passed over");
    }
    // A failed answer counts too: else a host whose tables fail would be asked for everything with every poll.
    if ([...results.details.keys()].some((name) => !critical.has(name))) {
      set.detail_updated_at = isoAt(now);
      // Asked before its platform was known, the host has yet to be asked for what its platform has.
      set.refetch_requested = row.platform === "" && (set.platform ?? "") !== "" && row.refetch_requested;
    }
    if (results.labelsReported) set.label_updated_at = isoAt(now);
    if (results.policiesReported) set.policy_updated_at = isoAt(now);
    return { item, set, changes };
  }

  async function run(items: readonly IngestItem[]): Promise<null[]> {
    const rows = new Map((await store.hosts.getMany(items.map(({ state }) => state.id))).map((row) => [row.id, row]));
    const planned: Planned[] = [];
    for (const item of items) {
      const row = rows.get(item.state.id);
      if (row) planned.push({ ...planHost(item, row), row });
    }
    const systems = await osVersions.ids(planned.flatMap(({ changes }) => changes?.os ?? []));
    for (const { changes, set } of planned) if (changes?.os) set.os_version_id = systems.of(changes.os);

    const withDetails = planned.filter(({ changes }) => changes !== null);
    const { rows: softwareRows, changed } = await software.plan(
      withDetails.map(({ item, row, set }) => ({
        hostId: row.id,
        platform: set.platform ?? row.platform,
        platformLike: set.platform_like ?? row.platform_like,
        results: item.results.details,
      })),
    );
    const [detailRows, mdmRows, munkiPlan] = await Promise.all([
      planDetails(planned),
      mdm.plan(planned.flatMap(({ row, changes }) => (changes?.mdm ? [{ hostId: row.id, mdm: changes.mdm }] : []))),
      munki.plan(
        planned.flatMap(({ row, changes }) => (changes?.munki ? [{ hostId: row.id, munki: changes.munki }] : [])),
        services.clock.now(),
      ),
    ]);
    const membership = await planLabels(planned);
    const policies = await planPolicies(
      store,
      caches.policies,
      planned.flatMap(({ item, row, set }) =>
        item.results.policiesReported
          ? [
              {
                host: {
                  id: row.id,
                  team_id: row.team_id,
                  platform: set.platform ?? row.platform,
                  platform_like: set.platform_like ?? row.platform_like,
                },
                answers: item.results.policies,
                asked: item.state.policiesAsked,
                isWritten: set.policy_updated_at !== row.policy_updated_at,
              },
            ]
          : [],
      ),
    );
    const now = services.clock.now();
    for (const { row, set } of planned) if (changed.has(row.id)) set.software_updated_at = isoAt(now);
    await store.tx(async (tx) => {
      await writeAnswers(tx, now, {
        hosts: planned.map(({ row, set }) => ({ row, set })),
        emails: planned.flatMap(({ row, changes }) =>
          changes?.browserEmails ? [{ hostId: row.id, emails: changes.browserEmails }] : [],
        ),
        softwareRows,
        detailRows,
        mdmRows,
        munki: munkiPlan,
        membership,
      });
      if (policies) await writePolicies(tx, policies, now);
    });
    for (const { item } of planned) if (item.results.policiesReported) item.state.policiesAsked = null;
    for (const { item, row, set } of planned) if (item.state.live) item.state.load({ ...row, ...set }, settings);
    return items.map(() => null);
  }

  async function planDetails(planned: readonly Planned[]): Promise<HostDetailsRow[]> {
    const telling = planned.filter(({ item, changes }) => changes !== null || item.results.additional.size > 0);
    if (telling.length === 0) return [];
    const old = new Map(
      (await store.hostDetails.getMany(telling.map(({ row }) => row.id))).map((row) => [row.id, row]),
    );
    const changed: HostDetailsRow[] = [];
    for (const { item, row, changes } of telling) {
      const additional = await configured(row.team_id, item.results.additional);
      const after = detailRowOf(row.id, old.get(row.id), changes, additional);
      if (after) changed.push(after);
    }
    return changed;
  }

  /** Rows of the additional queries that are configured: what an agent calls otherwise was not asked. */
  async function configured(teamId: number | null, told: ReadonlyMap<string, readonly Row[]>) {
    if (told.size === 0) return {};
    const asked = (await caches.configs.get(teamId)).features.additional_queries ?? {};
    return Object.fromEntries([...told].filter(([name]) => Object.hasOwn(asked, name)));
  }

  async function planLabels(planned: readonly Planned[]): Promise<Membership> {
    const join: { label_id: number; host_id: number }[] = [];
    const leave: { id: number; label_id: number }[] = [];
    const telling = planned.filter(({ item }) => item.results.labels.size > 0);
    if (telling.length === 0) return { join, leave };
    const { byId } = await caches.labels.get();
    const members = await store.labelMembers.list({
      where: oneOf(
        "host_id",
        telling.map(({ row }) => row.id),
      ),
    });
    const memberships = new Map(members.map((member) => [`${member.host_id} ${member.label_id}`, member.id]));
    for (const { item, row } of telling)
      for (const [labelId, isMember] of item.results.labels) {
        if (!byId.has(labelId)) continue;
        const held = memberships.get(`${row.id} ${labelId}`);
        if (isMember && held === undefined) join.push({ label_id: labelId, host_id: row.id });
        else if (!isMember && held !== undefined) leave.push({ id: held, label_id: labelId });
      }
    return { join, leave };
  }

  const guarded = async (items: readonly IngestItem[]): Promise<null[]> => {
    try {
      return await run(items);
    } catch (error) {
      if (!(error instanceof ReferenceViolation || error instanceof UniqueViolation)) throw error;
      // A label, a version or a host went, or another server was first: what was held of them is read again.
      caches.labels.forget();
      caches.policies.forget();
      osVersions.forget();
      software.forget();
      mdm.forget();
      munki.forget();
      return run(items);
    }
  };
  const batches = createBatcher<IngestItem, null>(guarded, {
    size: store.engine === "lowdb" ? 8 : 24,
    parallel: store.engine === "lowdb" ? 1 : 2,
    key: ({ state }) => state.id,
  });

  return {
    async add(item) {
      try {
        await batches.add(item);
      } catch (error) {
        // It would fail again each time it is sent again; the host would never be heard.
        if (!(error instanceof BadRow || error instanceof ReferenceViolation)) throw error;
        log.error({ err: error, host_id: item.state.id }, "an answer could not be kept");
      }
    },
    async stop() {
      await batches.idle();
      await software.stop();
      await munki.stop();
    },
  };
}
