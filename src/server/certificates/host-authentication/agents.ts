// Caches managed agents by key: 10,000 of them request their configuration every 30 s.

import type { AgentOptions } from "../../../api/settings/app-config.ts";
import { watchHosts } from "../../hosts/hosts/changes.ts";
import { currentRun } from "../../hosts/managed-agents/machines.ts";
import { type AgentForm, formOf } from "../../hosts/operations/kind.ts";
import { openOperations } from "../../hosts/operations/queue.ts";
import { channels } from "../../platform/core/channels.ts";
import { Batcher } from "../../platform/core/concurrency/batcher.ts";
import { CachedValue } from "../../platform/core/concurrency/cached.ts";
import type { Services } from "../../platform/core/context.ts";
import { authenticationRequired, limitExceeded } from "../../platform/core/errors.ts";
import type { Caller } from "../../platform/core/http/proxies.ts";
import { limit } from "../../platform/core/limits.ts";
import { byId } from "../../platform/core/maps.ts";
import { tokenHash } from "../../platform/core/random.ts";
import { startedPart } from "../../platform/core/running.ts";
import type { Tables } from "../../platform/core/tables.ts";
import { FailureLimit } from "../../platform/rate-limits/failures.ts";
import { oneOf } from "../../platform/store/query.ts";
import type { RowOf } from "../../platform/store/table.ts";
import { checkSigned, hostsWithIdentity, type SignedContext } from "./identity.ts";

/** The data of an agent's host that its configuration depends on. */
export interface AgentHost {
  readonly hostId: number;
  readonly teamId: number | null;
  readonly platform: string;
  readonly platformLike: string;
  /** Whether the agent's requests have to be signed with its identity. */
  readonly hasIdentity: boolean;
  /** The machine that uses the key; null: unknown. See machines.ts. */
  readonly run: string | null;
  readonly hardwareUuid: string | null;
  /** The operation that the agent gets next; null: none. */
  readonly next: { readonly uuid: string; readonly form: AgentForm } | null;
  /** Null: nothing is known. */
  readonly mdm: Pick<RowOf<Tables["hostMdm"]>, (typeof mdmColumns)[number]> | null;
  /** The state of its disk. Null: nothing is known. */
  readonly disk: Pick<RowOf<Tables["hostDiskEncryption"]>, (typeof diskColumns)[number]> | null;
  /** The host's setup. Null: it has none. */
  readonly setup: Pick<RowOf<Tables["hostSetups"]>, (typeof setupColumns)[number]> | null;
}

const mdmColumns = ["id", "enrollment_status", "connected_to_svc", "is_server"] as const;
const diskColumns = ["id", "status", "detail", "asked", "client_error"] as const;
const setupColumns = ["id", "state"] as const;

interface ManagedAgents {
  /**
   * The host of a key. 401 if the key is unknown, or if the host signs its requests and has not signed this one. 429
   * after too many unknown keys from the address.
   */
  find(key: string, ctx: Caller & SignedContext): Promise<AgentHost>;
  /** The agent options of the team, or else the global ones. */
  optionsOf(teamId: number | null): Promise<AgentOptions>;
  readonly size: number;
  stop(): Promise<void>;
}

interface CachedHost {
  readonly host: AgentHost;
  readonly key: string;
  /** False: has to be read again before the next use. */
  fresh: boolean;
}

const AGENTS_MAX = 200_000;
const UNKNOWN_KEYS_A_MINUTE = 1_000;
export const agentKey = limit({
  what: "key that a managed agent sends",
  max: 256,
  unit: "characters",
  beyond: "The request is refused with 401.",
});

export const managedAgents = startedPart("managed agents", startManagedAgents);

async function startManagedAgents(services: Services): Promise<ManagedAgents> {
  const { store, config, clock } = services;
  const byKey = new Map<string, CachedHost>();
  const byHost = new Map<number, CachedHost>();
  const unknown = new FailureLimit(services, { scope: "managed agents' keys", most: UNKNOWN_KEYS_A_MINUTE });

  const lookups = new Batcher<string, AgentHost | null>(
    async (hashes) => {
      const agents = await store.managedAgents.pick(["id", "agent_key_hash", "hardware_uuid", "runs"], {
        where: oneOf("agent_key_hash", [...new Set(hashes)]),
      });
      const ids = agents.map(({ id }) => id);
      const [rows, mdm, encryption, setups, open, identities] = await Promise.all([
        store.hosts.pick(["id", "team_id", "platform", "platform_like"], { where: oneOf("id", ids) }),
        store.hostMdm.pick(mdmColumns, { where: oneOf("id", ids) }),
        store.hostDiskEncryption.pick(diskColumns, { where: oneOf("id", ids) }),
        store.hostSetups.pick(setupColumns, { where: oneOf("id", ids) }),
        openOperations(store, ids),
        hostsWithIdentity(store, ids, clock.iso()),
      ]);
      const hosts = byId(rows);
      const managed = byId(mdm);
      const disks = byId(encryption);
      const setupOf = byId(setups);
      const byHash = new Map(agents.map((agent) => [agent.agent_key_hash, agent]));
      return hashes.map((hash) => {
        const agent = byHash.get(hash);
        const row = hosts.get(agent?.id ?? 0);
        if (!agent || !row) return null;
        const next = open.find((operation) => operation.host_id === row.id);
        return {
          hostId: row.id,
          teamId: row.team_id,
          platform: row.platform,
          platformLike: row.platform_like,
          hasIdentity: identities.has(row.id),
          run: currentRun(agent),
          hardwareUuid: agent.hardware_uuid,
          next: next === undefined ? null : { uuid: next.uuid, form: formOf(services, next) },
          mdm: managed.get(row.id) ?? null,
          disk: disks.get(row.id) ?? null,
          setup: setupOf.get(row.id) ?? null,
        };
      });
    },
    { size: 200, parallel: 2 },
  );

  function drop(cached: CachedHost): void {
    if (byKey.get(cached.key) === cached) byKey.delete(cached.key);
    if (byHost.get(cached.host.hostId) === cached) byHost.delete(cached.host.hostId);
  }

  function keep(key: string, host: AgentHost, fresh: boolean): void {
    for (const old of [byKey.get(key), byHost.get(host.hostId)]) if (old) drop(old);
    const cached = { host, key, fresh };
    byKey.set(key, cached);
    byHost.set(host.hostId, cached);
    const oldest = byKey.size > AGENTS_MAX ? byKey.values().next().value : undefined;
    if (oldest) drop(oldest);
  }

  const teams = new Map<number, CachedValue<AgentOptions>>();
  const forgetOptions = () => {
    for (const cached of teams.values()) cached.forget();
    teams.clear();
  };
  const doubt = (cached: CachedHost | undefined) => {
    if (cached) cached.fresh = false;
  };
  const changes = await watchHosts(store, {
    host: (id) => doubt(byHost.get(id)),
    all: () => {
      for (const cached of byKey.values()) doubt(cached);
    },
  });
  const stops = [
    await store.listen(channels.teams, forgetOptions, forgetOptions),
    await store.listen(channels.config, forgetOptions, forgetOptions),
  ];

  async function hostOf(key: string, caller: Caller): Promise<AgentHost> {
    const cached = byKey.get(key);
    if (cached?.fresh) return cached.host;
    if (key === "" || key.length > agentKey.max) throw authenticationRequired();
    const before = changes.notifications;
    const host = await lookups.add(tokenHash(key));
    if (host === null) {
      if (cached) drop(cached);
      const wait = unknown.fail(caller);
      throw wait > 0 ? limitExceeded(wait) : authenticationRequired();
    }
    keep(key, host, changes.notifications === before);
    return host;
  }

  return {
    async find(key, ctx) {
      const host = await hostOf(key, ctx);
      if (host.hasIdentity) await checkSigned(ctx, host.hostId);
      return host;
    },
    async optionsOf(teamId) {
      const cached = teams.get(teamId ?? 0);
      if (cached) return cached.get();
      const options = new CachedValue(async () => {
        const global = await config.current();
        const team = teamId === null ? null : await store.teams.get(teamId);
        return team?.agent_options ?? global.agent_options;
      });
      teams.set(teamId ?? 0, options);
      return options.get();
    },
    get size() {
      return byKey.size;
    },
    async stop() {
      await lookups.idle();
      await changes.stop();
      for (const stop of stops) await stop();
      unknown.stop();
    },
  };
}
