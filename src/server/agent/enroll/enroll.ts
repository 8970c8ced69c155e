// Enrollment (agent protocol, section 3). Concurrent enrollments share a transaction.
import { recordActivities } from "../../activities/record.ts";
import { rowsOf, text } from "../../agent-protocol/rows.ts";
import { type AgentReply, failure, nodeInvalid } from "../../agent-protocol/wire.ts";
import { channels, hostsPayload } from "../../core/channels.ts";
import { isoAt } from "../../core/clock.ts";
import { createBatcher } from "../../core/concurrency/batcher.ts";
import { type Services, service } from "../../core/context.ts";
import type { Caller } from "../../core/http/proxies.ts";
import { tokenHash } from "../../core/random.ts";
import type { ServerTx, Tables } from "../../core/tables.ts";
import { moveEnrolledHosts } from "../../enrollment/move.ts";
import { ENROLLED_ELSEWHERE, recordRefused } from "../../enrollment/refused.ts";
import { judgeReenrollment } from "../../enrollment/rule.ts";
import { checkEnrollSecret, secretChecksIdle } from "../../enrollment/secret-check.ts";
import { endPendingActions } from "../../host-actions/states.ts";
import {
  hostIdentified,
  IDENTIFIER_MAX,
  identifierSpellings,
  renewedIdentifier,
  storedIdentifier,
} from "../../hosts/identifier.ts";
import { notifyMembersChanged } from "../../labels/counts.ts";
import type { LabelCache } from "../../labels/dynamic.ts";
import { forgetResults } from "../../policies/results.ts";
import { oneOf } from "../../store/query.ts";
import { cleanText } from "../../store/rows.ts";
import { ReferenceViolation, UniqueViolation } from "../../store/store.ts";
import type { InsertOf } from "../../store/table.ts";
import type { ConfigCache, TeamConfig } from "../config.ts";
import type { HostCache } from "../hosts/cache.ts";
import { createOsVersions } from "../hosts/os-versions.ts";
import type { HostRow } from "../hosts/state.ts";
import { seenRow } from "../ingest/write.ts";
import { enrollChanges } from "../inventory/host-fields.ts";

export interface Enrollment {
  enroll(body: Record<string, unknown>, caller: Caller, since: number): Promise<AgentReply>;
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

type HostInsert = InsertOf<Tables["hosts"]>;
/** Either a refusal, or the enrolled host and whether it is new. */
type Outcome = Refusal | { readonly row: HostRow; readonly isNew: boolean };
interface Refusal {
  readonly refused: string;
  /** The host of another team that has this identifier. */
  readonly known?: HostRow;
}
type Plan =
  | Refusal
  | { readonly insert: HostInsert }
  | { readonly row: HostRow; readonly set: Partial<HostRow>; readonly movesTo?: number | null };

/** A host was deleted or changed team between the decision and the write; the decision has to be repeated. */
class Outdated extends Error {}

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
    const provided = typeof body.host_identifier === "string" ? cleanText(body.host_identifier) : "";
    // Not truncated, since two hosts may share a prefix.
    return (row ? text(row, column[kind], Number.POSITIVE_INFINITY).trim() : "") || provided.trim();
  }

  async function configsOf(items: readonly Item[]): Promise<(item: Item) => TeamConfig> {
    const teams = [...new Set(items.map(({ teamId }) => teamId))];
    const teamConfigs = new Map(await Promise.all(teams.map(async (id) => [id, await configs.get(id)] as const)));
    return ({ teamId }) => teamConfigs.get(teamId)!;
  }

  async function enrollAll(items: readonly Item[]): Promise<Outcome[]> {
    const now = clock.now();
    const limit = license.device_count;
    const existing = await store.hosts.list({
      where: oneOf(
        "identifier",
        items.flatMap(({ identifier }) => identifierSpellings(identifier)),
      ),
    });
    const byIdentifier = new Map(existing.map((row) => [row.identifier, row]));
    const known = new Map(items.map((item) => [item, hostIdentified(byIdentifier, item.identifier, item.teamId)]));
    const changes = items.map((item) =>
      enrollChanges(item.details, item.platformType, {
        known: known.get(item) ?? {},
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
          const old = known.get(item);
          const { set, os } = changes[i]!;
          // Stores the configured intervals now, so that the first configuration request does not write.
          const { intervals } = configOf(item).for(
            set.platform ?? old?.platform ?? "",
            set.platform_like ?? old?.platform_like ?? "",
          );
          const reported = { ...set, ...intervals, ...(os === null ? {} : { os_version_id: systems.of(os) }) };
          const enrolled = {
            node_key_hash: tokenHash(item.key),
            last_enrolled_at: isoAt(now),
            updated_at: isoAt(now),
          };
          if (!old) {
            if (room <= 0) return { refused: `enroll host failed: maximum number of hosts reached: ${limit}` };
            room--;
            return {
              insert: {
                identifier: storedIdentifier(item.identifier),
                team_id: item.teamId,
                created_at: isoAt(now),
                ...reported,
                ...enrolled,
              },
            };
          }
          const verdict = judgeReenrollment({
            hostTeam: old.team_id,
            secretTeam: item.teamId,
            isProved: false,
            globalSecret: settings.global_reenroll,
          });
          if (verdict === "refused") return { refused: ENROLLED_ELSEWHERE, known: old };
          if (settings.enroll_cooldown > 0 && now - Date.parse(old.last_enrolled_at) < settings.enroll_cooldown)
            return { refused: `host identified by ${item.identifier} enrolling too often` };
          return {
            row: old,
            set: {
              ...reported,
              ...enrolled,
              identifier: renewedIdentifier(byIdentifier, old),
              // Policy results are deleted below and collected again at the first check-in.
              policy_updated_at: null,
              uuid: old.uuid || (reported.uuid ?? ""),
              hardware_serial: old.hardware_serial || (reported.hardware_serial ?? ""),
            },
            ...(verdict === "moves" ? { movesTo: item.teamId } : {}),
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
          // Another server enrolled the same identifier first, or a team or OS version was deleted: decide again.
          const again =
            error instanceof UniqueViolation || error instanceof ReferenceViolation || error instanceof Outdated;
          if (!again || attempt === ATTEMPTS) throw error;
          osVersions.forget();
        }
      }
    },
    {
      size: store.engine === "lowdb" ? 16 : 50,
      parallel: store.engine === "lowdb" ? 1 : 2,
      key: ({ identifier }) => storedIdentifier(identifier),
    },
  );

  /** `plans[i]` belongs to the item at the same index. */
  async function write(
    tx: ServerTx,
    items: readonly Item[],
    plans: readonly Plan[],
    allHosts: number,
    now: number,
  ): Promise<Outcome[]> {
    const inserts = plans.flatMap((plan) => ("insert" in plan ? [plan.insert] : []));
    const created = inserts.length > 0 ? await tx.hosts.insertMany(inserts) : [];
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
    await checkTeams(tx, again);
    for (const [teamId, moved] of movesOf(again))
      await moveEnrolledHosts(
        { store: tx, clock, extensions: services.extensions, agent: "query_engine" },
        moved,
        teamId,
      );
    let next = 0;
    const outcomes = plans.map((plan): Outcome => {
      if ("insert" in plan) return { row: created[next++]!, isNew: true };
      if (!("set" in plan)) return plan;
      const { row, set, movesTo = row.team_id } = plan;
      return { row: { ...row, ...set, team_id: movesTo }, isNew: false };
    });

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
      if (created.length > 0) await notifyMembersChanged(tx, [allHosts]);
    }
    if (created.length > 0)
      await recordActivities(
        { store: tx, clock, extensions: services.extensions, user: service },
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
      // The identifier may now belong to a different machine.
      await forgetResults(tx, ids);
      await endPendingActions({ store: tx, clock }, ids);
      await tx.notify(channels.hosts, hostsPayload(ids));
    }
    for (const { row } of again)
      if (row.node_key_hash !== null)
        log.warn(
          { host_id: row.id, identifier: row.identifier },
          "a host with a node key enrolled again; if this repeats, several machines share one identifier: set enroll_cooldown or host_identifier=instance",
        );
    return outcomes;
  }

  return {
    async enroll(body, caller, since) {
      const found = await checkEnrollSecret(services, body.enroll_secret, caller);
      if ("wait" in found) {
        const { wait } = found;
        if (wait > 0) return failure(429, `enroll failed: too many bad enroll secrets, retry after: ${wait}s`, wait);
        return refusal("invalid enroll secret");
      }
      const identifier = identifierOf(body);
      if (identifier === "") return refusal("missing osquery host identifier");
      if (identifier.length > IDENTIFIER_MAX)
        return refusal(`the host identifier is longer than ${IDENTIFIER_MAX} characters`);
      const key = random.token(KEY_BYTES);
      const outcome = await batches.add(
        {
          identifier,
          teamId: found.teamId,
          details: body.host_details,
          platformType: body.platform_type,
          address: caller.address,
          key,
        },
        since,
      );
      if ("refused" in outcome) {
        if (outcome.known)
          await recordRefused(services, {
            host: outcome.known,
            secretTeam: found.teamId,
            agent: "query_engine",
            address: caller.address,
          });
        return refusal(outcome.refused);
      }
      cache.put(outcome.row, key);
      return { status: 200, body: JSON.stringify({ node_key: key }) };
    },
    async stop() {
      await secretChecksIdle(services);
      await batches.idle();
    },
  };
}

type Again = Extract<Plan, { row: HostRow }>;

/** Runs after the rows were written: their row locks keep the teams unchanged until the commit. */
async function checkTeams(tx: ServerTx, again: readonly Again[]): Promise<void> {
  if (again.length === 0) return;
  const ids = again.map(({ row }) => row.id);
  const now = await tx.hosts.pick(["id", "team_id"], { where: oneOf("id", ids) });
  const teams = new Map(now.map(({ id, team_id }) => [id, team_id]));
  if (again.some(({ row }) => teams.get(row.id) !== row.team_id)) throw new Outdated();
}

/** Hosts that change team, grouped by their new team. */
function movesOf(again: readonly Again[]): Map<number | null, HostRow[]> {
  const moves = new Map<number | null, HostRow[]>();
  for (const { row, movesTo } of again)
    if (movesTo !== undefined) moves.set(movesTo, [...(moves.get(movesTo) ?? []), row]);
  return moves;
}
