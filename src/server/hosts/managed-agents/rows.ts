// Rows of managed agents: written when they enroll, when they call, and when their host is taken over.

import type { ServerTx } from "../../platform/core/tables.ts";
import { eq, everything, exists, isNull, not, oneOf, or, type Predicate } from "../../platform/store/query.ts";
import type { InsertOf } from "../../platform/store/table.ts";
import type { StoredMachine } from "./machines.ts";
import { type Conflict, managedAgents } from "./tables.ts";

/** Hosts on which a query engine or a managed agent has enrolled. */
export const haveAgents: Predicate = or(not(isNull("node_key_hash")), exists(managedAgents, "id", everything));

/** Hosts get agents with new keys; the previous keys become invalid. */
export async function writeAgents(tx: ServerTx, rows: readonly InsertOf<typeof managedAgents>[]): Promise<void> {
  await tx.managedAgents.upsert(rows, { on: ["id"] });
}

/** Agents send something every hour, which shows that they still run. */
export async function setAgentSeen(tx: ServerTx, hostId: number, now: string): Promise<void> {
  await tx.managedAgents.update({ where: eq("id", hostId), set: { seen_at: now } });
}

/** The machine that uses the agent's key. */
export async function setMachine(tx: ServerTx, hostId: number, machine: StoredMachine): Promise<void> {
  await tx.managedAgents.update({ where: eq("id", hostId), set: machine });
}

/** The agent was copied to another machine. */
export async function setConflict(tx: ServerTx, hostId: number, conflict: Conflict): Promise<void> {
  await tx.managedAgents.update({ where: eq("id", hostId), set: { conflict } });
}

/** Deletes the agents' keys: the agents have to enroll again. */
export async function endAgentKeys(tx: ServerTx, hostIds: readonly number[]): Promise<void> {
  await tx.managedAgents.delete(oneOf("id", hostIds));
}
