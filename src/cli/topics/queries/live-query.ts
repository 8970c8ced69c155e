import { LiveQuery } from "../../../api/inventory/live-queries.ts";
import type { View } from "../../output/output.ts";

export const liveView: View = {
  schema: () => LiveQuery,
  columns: [
    { key: "id" },
    { key: "status" },
    { key: "ended_by", header: "ended by" },
    { key: "counts.targets", header: "targets" },
    { key: "counts.answered", header: "answered" },
    { key: "counts.error", header: "error" },
    { key: "counts.offline", header: "offline" },
    { key: "counts.timed_out", header: "timed out" },
    { key: "created_at", header: "begun" },
    { key: "query" },
  ],
};
