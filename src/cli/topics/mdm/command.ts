// Columns of commands of device management.
import { Command } from "../../../api/devices/commands.ts";
import type { View } from "../../output/output.ts";
import { timeColumn } from "../../output/time-column.ts";

export const commandView = (relative: boolean, now: Date): View => ({
  schema: () => Command,
  columns: [
    { key: "hostname", header: "host" },
    { key: "command_uuid", header: "uuid" },
    { key: "request_type", header: "type" },
    { key: "name", spare: 2 },
    { key: "status" },
    { key: "command_status", header: "result", spare: 1 },
    timeColumn("updated_at", "changed", relative, now),
  ],
});
