// Columns of tasks.
import { Task } from "../api/platform/tasks.ts";
import type { View } from "./output/output.ts";
import { timeColumn } from "./output/time-column.ts";

export const taskView = (relative: boolean, now: Date): View => ({
  schema: () => Task,
  columns: [
    { key: "id" },
    { key: "kind" },
    { key: "state" },
    { key: "progress" },
    { key: "total" },
    { key: "requested_by.email", header: "requested by" },
    timeColumn("created_at", "created", relative, now),
    timeColumn("finished_at", "ended", relative, now),
    { key: "error" },
  ],
});
