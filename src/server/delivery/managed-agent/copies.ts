// Machines that were cloned with their agent: two with one key. See machines.ts for how they are recognized.

import type { AgentHost } from "../../certificates/host-authentication/agent-hosts.ts";
import { recordRefused } from "../../hosts/enrollment/refused.ts";
import { requestRefetch } from "../../hosts/hosts/write.ts";
import { judge, type Machine, type MachineVerdict } from "../../hosts/managed-agents/machines.ts";
import { setConflict, setMachine } from "../../hosts/managed-agents/rows.ts";
import { type Conflict, machineOf } from "../../hosts/managed-agents/tables.ts";
import { channels, hostsPayload } from "../../platform/core/channels.ts";
import type { Context } from "../../platform/core/context.ts";
import { ApiError, authenticationRequired } from "../../platform/core/errors.ts";
import { tokenHash } from "../../platform/core/random.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq } from "../../platform/store/query.ts";

/** The agent forgets its keys, and enrolls its machine as a host of its own. */
const refusalOf = (name: "machine" | "hardware_uuid", reason: string) =>
  new ApiError(409, "Conflict", [{ name, reason }]);

/** The refusal of a copy that has the hardware UUID of the original: it has to enroll under another identifier. */
export const copyRefused = (): ApiError =>
  refusalOf(
    "machine",
    "another machine with this hardware UUID has the host of this agent, which is a copy: enroll as a host of its own",
  );

const hasOtherHardware = (): ApiError =>
  refusalOf(
    "hardware_uuid",
    "this key belongs to a machine with another hardware UUID, from which the agent was copied: enroll again",
  );

/**
 * Compares the caller's machine with the one that uses the key. Returns whether a copy had taken its place since its
 * last call. 409 for a copy.
 */
export async function checkMachine(
  ctx: Context,
  agent: AgentHost,
  key: string,
  machine: Machine | undefined,
): Promise<boolean> {
  if (machine === undefined) return false;
  if (machine.run === agent.run && machine.hardware_uuid === agent.hardwareUuid) return false;
  const verdict = await compare(ctx, agent, key, machine);
  if (verdict !== "copy" && verdict !== "other hardware") return verdict === "returns";
  await recordCopy(ctx, agent.hostId, verdict);
  throw verdict === "copy" ? copyRefused() : hasOtherHardware();
}

function compare(
  { store, clock }: Context,
  { hostId }: AgentHost,
  key: string,
  machine: Machine,
): Promise<MachineVerdict> {
  const work = async (tx: ServerTx): Promise<MachineVerdict> => {
    const row = await tx.managedAgents.first({ where: and(eq("id", hostId), eq("agent_key_hash", tokenHash(key))) });
    // The key was replaced since it was looked up.
    if (!row) throw authenticationRequired();
    const stored = machineOf(row);
    const [verdict, next] = judge(stored, machine, clock.now());
    if (next !== stored) {
      await setMachine(tx, hostId, next);
      await tx.notify(channels.hosts, hostsPayload([hostId]));
    }
    // What the copy has reported in the meantime is replaced.
    if (verdict === "returns") await requestRefetch(tx, hostId);
    return verdict;
  };
  return store.tx(work, { lock: `machine of ${hostId}` });
}

const REASONS = {
  copy: "another machine with the same hardware UUID uses the same agent: it enrolls as a host of its own",
  "other hardware": "a machine with another hardware UUID used a copy of the host's key",
} as const;

/** Makes a copy of the host's agent known to administrators: on the host's page, and in the activity feed. */
export async function recordCopy(ctx: Context, hostId: number, kind: keyof typeof REASONS): Promise<void> {
  const { store, clock, address } = ctx;
  const host = await store.hosts.get(hostId);
  if (!host) return;
  const conflict: Conflict = { detected_at: clock.iso(), address };
  await setConflict(store, hostId, conflict);
  await recordRefused(ctx, { host, agent: "managed_agent", address, because: REASONS[kind] });
}
