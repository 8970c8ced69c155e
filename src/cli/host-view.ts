// How hosts are shown, and the flags that pick them.
import { Host } from "../api/host.ts";
import type { View } from "./output.ts";
import type { Column } from "./table.ts";
import { ago } from "./text.ts";

export const timeColumn = (key: string, header: string, relative: boolean, now: Date): Column => ({
  key,
  header,
  text: (value) => (typeof value !== "string" ? "" : relative ? ago(value, now) : value),
});

export const hostView = (relative: boolean, now: Date): View => ({
  schema: Host,
  columns: [
    { key: "id" },
    { key: "display_name", header: "host" },
    { key: "status" },
    { key: "platform" },
    { key: "os_version", header: "os version" },
    { key: "team_name", header: "team" },
    timeColumn("seen_time", "last seen", relative, now),
  ],
});

export interface Counted {
  readonly what: string;
  readonly hosts: number;
}

/** Counts of hosts, for people: a table of what is counted. */
export const counted = <T extends { readonly hosts_count: number }>(
  rows: readonly T[],
  nameOf: (row: T) => string,
): Counted[] => rows.map((row) => ({ what: nameOf(row) || "(unknown)", hosts: row.hosts_count }));
export const countedView: View = { columns: [{ key: "what", header: "" }, { key: "hosts" }] };
