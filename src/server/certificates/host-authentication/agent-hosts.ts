// Reads what the configuration of managed agents depends on, for several keys at a time.
import { currentRun } from "../../hosts/managed-agents/machines.ts";
import { type AgentForm, formOf } from "../../hosts/operations/kind.ts";
import { openOperations } from "../../hosts/operations/queue.ts";
import type { Services } from "../../platform/core/context.ts";
import { byId } from "../../platform/core/maps.ts";
import type { Tables } from "../../platform/core/tables.ts";
import { oneOf } from "../../platform/store/query.ts";
import type { RowOf } from "../../platform/store/table.ts";
import { hostsWithIdentity } from "./identity.ts";

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

/** The hosts whose keys have these hashes, in the same order; null for unknown ones. */
export async function readAgentHosts(services: Services, hashes: readonly string[]): Promise<(AgentHost | null)[]> {
  const { store, clock } = services;
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
  return hashes.map((hash): AgentHost | null => {
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
}
