// Columns of hosts and of host counts.
import { Host } from "../../../api/hosts/host.ts";
import type { View } from "../../output/output.ts";
import { timeColumn } from "../../output/time-column.ts";

export const hostView = (relative: boolean, now: Date): View => ({
  schema: () => Host,
  columns: [
    { key: "id" },
    { key: "display_name", header: "host", least: 20 },
    { key: "status" },
    { key: "platform", spare: 2 },
    { key: "os_version", header: "os version", spare: 3 },
    { key: "team_name", header: "team", spare: 1 },
    timeColumn("seen_time", "last seen", relative, now),
  ],
});

export interface HostCount {
  readonly what: string;
  readonly hosts: number;
}

/** Counts by product of device management. One product can have several servers. */
export const countedSolutions = (
  solutions: readonly { readonly name: string; readonly server_url: string; readonly hosts_count: number }[],
) =>
  solutions.map(({ name, server_url, hosts_count }) => ({ what: name || "(unknown)", hosts: hosts_count, server_url }));

/** Converts counts of hosts to rows of a table for people. */
export const counted = <T extends { readonly hosts_count: number }>(
  rows: readonly T[],
  nameOf: (row: T) => string,
): HostCount[] => rows.map((row) => ({ what: nameOf(row) || "(unknown)", hosts: row.hosts_count }));
const countedView: View = { columns: [{ key: "what", header: "" }, { key: "hosts" }] };
export const countedSolutionsView: View = {
  columns: [...countedView.columns, { key: "server_url", header: "server" }],
};
