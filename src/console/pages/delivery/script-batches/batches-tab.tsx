import { type ReactElement, useMemo } from "react";
import { type ScriptBatch, scriptBatchesApi } from "../../../../api/delivery/script-batches.ts";
import type { ListDefinition } from "../../../parts/list/definition.ts";
import { List } from "../../../parts/list/list-page.tsx";
import { OneTeam, ofTeam } from "../../../parts/one-team.tsx";
import { Time } from "../../../parts/time.tsx";
import { useUrl } from "../../../url.ts";
import { batchHref } from "./batch-href.ts";
import { BatchState } from "./batch-state.tsx";
import { BatchView } from "./batch-view.tsx";

/** Runs of saved scripts on many hosts, or one of them. */
export default function BatchesTab(): ReactElement {
  const batch = useUrl().get("batch");
  if (batch !== null) return <BatchView key={batch} id={batch} />;
  return (
    <OneTeam what="Batches" action="scripts:read">
      {(teamId) => <Batches teamId={teamId} />}
    </OneTeam>
  );
}

function Batches({ teamId }: { readonly teamId: number }): ReactElement {
  const definition = useMemo(() => batchesOf(teamId), [teamId]);
  return <List definition={definition} />;
}

const batchesOf = (teamId: number): ListDefinition<typeof scriptBatchesApi.list, ScriptBatch> => ({
  name: "Batches",
  thing: "batch",
  things: "batches",
  endpoint: scriptBatchesApi.list,
  query: ofTeam(teamId),
  hasTeams: false,
  hasSearch: false,
  rowsOf: ({ batch_executions }) => batch_executions,
  countOf: ({ count }) => count,
  keyOf: ({ batch_execution_id }) => batch_execution_id,
  nameOf: ({ script_name }) => script_name,
  hrefOf: ({ batch_execution_id }) => batchHref(batch_execution_id),
  columns: [
    { id: "script", name: "Script", cell: ({ script_name }) => script_name },
    { id: "status", name: "State", cell: BatchState },
    { id: "hosts", name: "Hosts", isNumber: true, cell: ({ targeted_host_count }) => targeted_host_count },
    { id: "ran", name: "Ran", isNumber: true, cell: ({ ran_host_count }) => ran_host_count },
    { id: "pending", name: "Pending", isNumber: true, cell: ({ pending_host_count }) => pending_host_count },
    { id: "failed", name: "Failed", isNumber: true, cell: ({ errored_host_count }) => errored_host_count },
    { id: "incompatible", name: "Not possible", isNumber: true, cell: ({ incompatible_host_count: count }) => count },
    { id: "canceled", name: "Cancelled", isNumber: true, cell: ({ canceled_host_count }) => canceled_host_count },
    { id: "time", name: "Starts", cell: ({ started_at, not_before }) => <Time value={started_at ?? not_before} /> },
    {
      id: "created",
      name: "Requested",
      order: "created_at",
      isOptional: true,
      cell: ({ created_at }) => <Time value={created_at} />,
    },
  ],
  filters: [
    {
      name: "status",
      label: "State",
      options: ["scheduled", "started", "finished"].map((value) => ({ value, label: value })),
    },
  ],
  command: "scripts batch list",
  flags: { team_id: "team" },
  empty: (
    <p>
      Runs of a saved script on many hosts are listed here. Start one on the tab Scripts, or for selected hosts on the
      page Hosts. On the command line: <code>svc scripts batch run</code>.
    </p>
  ),
});
