import type { InventorySource } from "../../hosts/hosts/inventory/source.ts";
import { tableExists } from "../../platform/agent-protocol/detail-query.ts";
import { type AgentRow, has, text } from "../../platform/agent-protocol/rows.ts";

interface InstalledAgent {
  /** Null: the managed agent is not installed. */
  readonly row: AgentRow | null;
}

/** What the managed agent reports of itself, through a table of its own. */
export const managedAgentInventory: InventorySource<InstalledAgent> = {
  queries: [
    {
      name: "agent_info",
      platforms: ["darwin", "linux", "windows"],
      discovery: tableExists("orbit_info"),
      sql: "SELECT a.* FROM orbit_info AS a LIMIT 1;",
    },
  ],
  read({ single, results }) {
    const row = single("agent_info");
    // If a full set of details lacks this query, its table is missing.
    const isFullSet = results.has("uptime") && results.has("flags");
    return row !== null || (isFullSet && !results.has("agent_info")) ? { row } : null;
  },
  hostFields: ({ row }) => ({
    agent_version: row !== null && has(row, "version") ? text(row, "version") : null,
    svc_desktop_version: row !== null && has(row, "desktop_version") ? text(row, "desktop_version") : null,
    scripts_enabled: row !== null && has(row, "scripts_enabled") ? text(row, "scripts_enabled") === "1" : null,
  }),
};
