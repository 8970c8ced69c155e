// What commands of operations share.
import { HostOperation, operationsApi } from "../../api/hosts/operations.ts";
import type { View } from "../output/output.ts";
import { timeColumn } from "../output/time-column.ts";
import { queryFlags } from "../query-flags.ts";

/** Filters of the list and of cancellations. The position after which the list continues is for programs. */
export const operationFlags = queryFlags(operationsApi.list, ["after", "order_key", "order_direction"]);

export const operationView = (relative: boolean, now: Date): View => ({
  schema: () => HostOperation,
  columns: [
    { key: "id" },
    { key: "kind" },
    { key: "state" },
    { key: "host.display_name", header: "host" },
    { key: "detail", header: "what" },
    { key: "source" },
    { key: "requested_by.name", header: "requested by" },
    { key: "position_in_queue", header: "position" },
    { key: "can_cancel", header: "cancellable" },
    timeColumn("created_at", "created", relative, now),
    timeColumn("finished_at", "ended", relative, now),
  ],
});
