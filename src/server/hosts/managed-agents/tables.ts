import { idOf, json, type RowOf, table, text, time } from "../../platform/store/table.ts";
import type { Run, StoredMachine } from "./machines.ts";

declare module "../../platform/core/tables.ts" {
  interface Tables {
    readonly managedAgents: typeof managedAgents;
  }
}

/** The managed agent of a host. */
export const managedAgents = table("managed_agents", {
  id: idOf("hosts"),
  /** SHA-256 of the agent key, hexadecimal. */
  agent_key_hash: text().unique(),
  enrolled_at: time(),
  seen_at: time().nullable(),
  /** Hardware UUID of the machine that uses the key; null: it does not send it. See machines.ts. */
  hardware_uuid: text().nullable(),
  runs: json<readonly Run[]>().default([]),
  /** The last copy of the agent on another machine. */
  conflict: json<Conflict>().nullable(),
});

export interface Conflict {
  readonly detected_at: string;
  /** Where the other machine is. */
  readonly address: string;
}

/** What the server has stored of the machine of an agent. */
export const machineOf = ({ hardware_uuid, runs }: RowOf<typeof managedAgents>): StoredMachine => ({
  hardware_uuid,
  runs,
});
