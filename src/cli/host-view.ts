// How hosts are shown, and the flags that pick them.
import { Host } from "../api/hosts.ts";
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
