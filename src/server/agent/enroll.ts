// Enrollment (agent protocol, section 3). Hosts that enroll at the same time share a transaction.
import { recordActivities } from "../activities/record.ts";
import { channels, hostsPayload } from "../core/channels.ts";
import { isoAt } from "../core/clock.ts";
import { type Services, service } from "../core/context.ts";
import { tokenHash } from "../core/random.ts";
import { tellHostsMoved, tellMembersChanged } from "../labels/counts.ts";
import type { LabelCache } from "../labels/dynamic.ts";
import { forgetResults } from "../policies/results.ts";
import { endPendingActions } from "../scripts/states.ts";
import { oneOf } from "../store/query.ts";
import { ReferenceViolation, UniqueViolation } from "../store/store.ts";
import type { InsertOf } from "../store/table.ts";
import type { ServerTx, tables } from "../tables.ts";
import { createBatcher } from "./batcher.ts";
import type { ConfigCache, TeamConfig } from "./config.ts";
import type { HostCache } from "./host-cache.ts";
import type { HostRow } from "./host-state.ts";
import { seenRow } from "./ingest-write.ts";
import { enrollChanges } from "./inventory/host-fields.ts";
import { clip, rowsOf, text } from "./inventory/rows.ts";
import { createOsVersions } from "./os-versions.ts";
import { checkEnrollSecret, secretChecksIdle } from "./secret-check.ts";
import { type AgentReply, failure, nodeInvalid } from "./wire.ts";

export interface Enrollment {
  enroll(body: Record<string, unknown>, address: string): Promise<AgentReply>;
  stop(): Promise<void>;
}

interface Item {
  readonly identifier: string;
  readonly teamId: number | null;
  readonly details: unknown;
  readonly platformType: unknown;
  readonly address: string;
  readonly key: string;
}

type HostInsert = InsertOf<(typeof tables)["hosts"]>;
/** A refusal, or the host as it is now and whether it is new. */
type Outcome = { readonly refused: string } | { readonly row: HostRow; readonly isNew: boolean };
type Plan =
  | { readonly refused: string }
  | { readonly insert: HostInsert }
  | { readonly row: HostRow; readonly set: Partial<HostRow> };

const refusal = (reason: string): AgentReply => nodeInvalid(`enroll failed: ${reason}`);
const ATTEMPTS = 3;
const KEY_BYTES = 32;

interface Caches {
  readonly hosts: HostCache;
  readonly labels: LabelCache;
  readonly configs: ConfigCache;
}

export function createEnrollment(services: Services, { hosts: cache, labels, configs }: Caches): Enrollment {
  const { store, settings, clock, random, log, license } = services;
  const osVersions = createOsVersions(store);

  function identifierOf(body: Record<string, unknown>): string {
    const table = { provided: null, uuid: "osquery_info", instance: "osquery_info", hostname: "system_info" } as const;
    const column = { provided: "", uuid: "uuid", instance: "instance_id", hostname: "hostname" } as const;
    const kind = settings.host_identifier;
    const name = table[kind];
    const details = rowsOf([body.host_details])[0];
    const row = name === null ? undefined : rowsOf([details?.[name]])[0];
    const provided = typeof body.host_identifier === "string" ? clip(body.host_identifier) : "";
    return (row ? text(row, column[kind]).trim() : "") || provided.trim();
  }

  async function configsOf(items: readonly Item[]): Promise<(item: Item) => TeamConfig> {
    const teams = [...new Set(items.map(({ teamId }) => teamId))];
    const held = new Map(await Promise.all(teams.map(async (id) => [id, await configs.get(id)] as const)));
    return ({ teamId }) => held.get(teamId)!;
  }

  async function enrollAll(items: readonly Item[]): Promise<Outcome[]> {
    const now = clock.now();
    const limit = license.device_count;
    const held = await store.hosts.list({
      where: oneOf(
        "identifier",
        items.map(({ identifier }) => identifier),
      ),
    });
    const known = new Map(held.map((row) => [row.identifier, row]));
    const changes = items.map((item) =>
      enrollChanges(item.details, item.platformType, {
        known: known.get(item.identifier) ?? {},
        now,
        publicIp: item.address,
      }),
    );
    const systems = await osVersions.ids(changes.flatMap(({ os }) => os ?? []));
    const allHosts = await labels.allHosts();
    const configOf = await configsOf(items);
    return store.tx(
      async (tx) => {
        let room = limit === undefined ? Number.POSITIVE_INFINITY : limit - (await tx.hosts.count());
        const plans = items.map((item, i): Plan => {
          const old = known.get(item.identifier);
          const { set, os } = changes[i]!;
          // What its configuration will set is known now: the first request for it need not write that.
          const { intervals } = configOf(item).for(
            set.platform ?? old?.platform ?? "",
            set.platform_like ?? old?.platform_like ?? "",
          );
          const told = { ...set, ...intervals, ...(os === null ? {} : { os_version_id: systems.of(os) }) };
          const enrolled = {
            node_key_hash: tokenHash(item.key),
            team_id: item.teamId,
            last_enrolled_at: isoAt(now),
            updated_at: isoAt(now),
          };
          if (!old) {
            if (room <= 0) return { refused: `enroll host failed: maximum number of hosts reached: ${limit}` };
            room--;
            return { insert: { identifier: item.identifier, created_at: isoAt(now), ...told, ...enrolled } };
          }
          if (settings.enroll_cooldown > 0 && now - Date.parse(old.last_enrolled_at) < settings.enroll_cooldown)
            return { refused: `host identified by ${item.identifier} enrolling too often` };
          return {
            row: old,
            set: {
              ...told,
              ...enrolled,
              // Its results go: they are asked for anew at its first check-in.
              policy_updated_at: null,
              uuid: old.uuid || (told.uuid ?? ""),
              hardware_serial: old.hardware_serial || (told.hardware_serial ?? ""),
            },
          };
        });
        return write(tx, items, plans, allHosts, now);
      },
      limit === undefined ? {} : { lock: "enroll" },
    );
  }

  const batches = createBatcher<Item, Outcome>(
    async (items) => {
      for (let attempt = 1; ; attempt++) {
        try {
          return await enrollAll(items);
        } catch (error) {
          // Another server was first with the same identifier, or a team or system went: look again.
          const again = error instanceof UniqueViolation || error instanceof ReferenceViolation;
          if (!again || attempt === ATTEMPTS) throw error;
          osVersions.forget();
        }
      }
    },
    {
      size: store.engine === "lowdb" ? 16 : 50,
      parallel: store.engine === "lowdb" ? 1 : 2,
      key: ({ identifier }) => identifier,
    },
  );

  /** Each plan is of the item in its place. */
  async function write(
    tx: ServerTx,
    items: readonly Item[],
    plans: readonly Plan[],
    allHosts: number,
    now: number,
  ): Promise<Outcome[]> {
    const inserts = plans.flatMap((plan) => ("insert" in plan ? [plan.insert] : []));
    const created = inserts.length > 0 ? await tx.hosts.insertMany(inserts) : [];
    let next = 0;
    const outcomes = plans.map((plan): Outcome => {
      if ("insert" in plan) return { row: created[next++]!, isNew: true };
      if ("set" in plan) return { row: { ...plan.row, ...plan.set }, isNew: false };
      return plan;
    });

    const again = plans.flatMap((plan) => ("set" in plan ? [plan] : []));
    const columns = [...new Set(again.flatMap(({ set }) => Object.keys(set)))] as (keyof HostRow)[];
    if (again.length > 0)
      await tx.hosts.updateEach(
        again.map(({ row, set }) => ({
          ...Object.fromEntries(
            columns.map((column) => [column, set[column] === undefined ? row[column] : set[column]]),
          ),
          id: row.id,
        })),
      );

    const rows = outcomes.flatMap((outcome) => ("row" in outcome ? [outcome.row] : []));
    if (rows.length > 0) {
      await tx.hostSeen.upsert(
        rows.map((row) => seenRow(row, now)),
        { on: ["id"], returning: [] },
      );
      await tx.labelMembers.upsert(
        rows.map(({ id }) => ({ label_id: allHosts, host_id: id })),
        { on: ["label_id", "host_id"], set: [], returning: [] },
      );
      if (created.length > 0) await tellMembersChanged(tx, [allHosts]);
    }
    if (created.length > 0)
      await recordActivities(
        { store: tx, clock, user: service },
        "svc_enrolled",
        created.map((row) => ({
          host_id: row.id,
          host_serial: row.hardware_serial,
          host_display_name: row.display_name,
        })),
        {
          hostIds: created.map(({ id }) => id),
          addresses: items.filter((_, i) => "insert" in plans[i]!).map(({ address }) => address),
        },
      );
    if (again.length > 0) {
      const ids = again.map(({ row }) => row.id);
      // Under its identifier may be another machine by now.
      await forgetResults(tx, ids);
      await endPendingActions({ store: tx, clock }, ids);
      await tx.notify(channels.hosts, hostsPayload(ids));
      if (again.some(({ row, set }) => row.team_id !== set.team_id)) await tellHostsMoved(tx);
    }
    for (const { row } of again)
      if (row.node_key_hash !== null)
        log.warn(
          { host_id: row.id, identifier: row.identifier },
          "a host that has a node key enrolled again; when this goes on, machines share one identifier: set enroll_cooldown or host_identifier=instance",
        );
    return outcomes;
  }

  return {
    async enroll(body, address) {
      const found = await checkEnrollSecret(services, body.enroll_secret, address);
      if ("wait" in found) {
        const { wait } = found;
        if (wait > 0) return failure(429, `enroll failed: too many bad enroll secrets, retry after: ${wait}s`, wait);
        return refusal("invalid enroll secret");
      }
      const identifier = identifierOf(body);
      if (identifier === "") return refusal("missing osquery host identifier");
      const key = random.token(KEY_BYTES);
      const outcome = await batches.add({
        identifier,
        teamId: found.teamId,
        details: body.host_details,
        platformType: body.platform_type,
        address,
        key,
      });
      if ("refused" in outcome) return refusal(outcome.refused);
      cache.put(outcome.row, key);
      return { status: 200, body: JSON.stringify({ node_key: key }) };
    },
    async stop() {
      await secretChecksIdle(services);
      await batches.idle();
    },
  };
}
