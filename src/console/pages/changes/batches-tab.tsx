import type { ReactElement } from "react";
import { type ScriptBatch, scriptBatchesApi } from "../../../api/delivery/script-batches.ts";
import { Badge } from "../../parts/badge.tsx";
import type { ListDefinition } from "../../parts/list/definition.ts";
import { List } from "../../parts/list/list-page.tsx";
import { Time } from "../../parts/time.tsx";

const definition: ListDefinition<typeof scriptBatchesApi.list, ScriptBatch> = {
  name: "Script batches",
  thing: "batch",
  things: "batches",
  endpoint: scriptBatchesApi.list,
  hasSearch: false,
  rowsOf: ({ batch_executions }) => batch_executions,
  keyOf: ({ batch_execution_id }) => batch_execution_id,
  nameOf: ({ script_name }) => script_name,
  columns: [
    { id: "script", name: "Script", cell: ({ script_name }) => script_name },
    {
      id: "status",
      name: "State",
      cell: ({ status, canceled }) => (
        <Badge tone={canceled ? "quiet" : status === "finished" ? "good" : "note"}>
          {canceled ? "cancelled" : status}
        </Badge>
      ),
    },
    { id: "hosts", name: "Hosts", isNumber: true, cell: ({ targeted_host_count }) => targeted_host_count },
    { id: "ran", name: "Ran", isNumber: true, cell: ({ ran_host_count }) => ran_host_count },
    { id: "pending", name: "Pending", isNumber: true, cell: ({ pending_host_count }) => pending_host_count },
    { id: "failed", name: "Failed", isNumber: true, cell: ({ errored_host_count }) => errored_host_count },
    { id: "incompatible", name: "Not possible", isNumber: true, cell: ({ incompatible_host_count: count }) => count },
    { id: "time", name: "Started", cell: ({ started_at, not_before }) => <Time value={started_at ?? not_before} /> },
  ],
  command: "scripts batches",
  flags: { team_id: "team" },
  empty: <p>Runs of a saved script on many hosts are listed here.</p>,
};

export const BatchesTab = (): ReactElement => <List definition={definition} />;
