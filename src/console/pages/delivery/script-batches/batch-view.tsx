import { type ReactElement, useMemo, useState } from "react";
import { type ScriptBatch, type ScriptBatchHost, scriptBatchesApi } from "../../../../api/delivery/script-batches.ts";
import { client, useOutdate, useRead } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { PageLink } from "../../../frame/page-link.tsx";
import { ConfirmDialog } from "../../../parts/confirm-dialog.tsx";
import { counted, formatted } from "../../../parts/counted.ts";
import { Facts } from "../../../parts/facts.tsx";
import type { ListDefinition } from "../../../parts/list/definition.ts";
import { List } from "../../../parts/list/list-page.tsx";
import { Read } from "../../../parts/loading/read.tsx";
import { Tabs } from "../../../parts/tabs.tsx";
import { Time } from "../../../parts/time.tsx";
import { may } from "../../../session.ts";
import { useUrl } from "../../../url.ts";
import { OutputButton } from "../scripts/output-dialog.tsx";
import { BatchState } from "./batch-state.tsx";

/** A run of a script on many hosts: how far it is, and its hosts by outcome with what the script has written. */
export function BatchView({ id }: { readonly id: string }): ReactElement {
  const input = { params: { batch_execution_id: id } };
  const reply = useRead(scriptBatchesApi.get, input, { isLive: true });
  return (
    <>
      <p>
        <PageLink href="/controls?tab=batches">All batches</PageLink>
      </p>
      <Read from={reply} what="batch">
        {(batch) => (
          <>
            <Head batch={batch} />
            <Outcomes batch={batch} />
          </>
        )}
      </Read>
    </>
  );
}

function Head({ batch }: { readonly batch: ScriptBatch }): ReactElement {
  const [isCancelling, setCancelling] = useState(false);
  const isOver = batch.canceled || batch.status === "finished";
  return (
    <>
      <div className="page-head">
        <h2>{batch.script_name}</h2>
        {!isOver && may("hosts:cancel_activity", batch.team_id) && (
          <button type="button" className="danger" aria-haspopup="dialog" onClick={() => setCancelling(true)}>
            Cancel batch
          </button>
        )}
      </div>
      <Facts
        facts={[
          ["State", <BatchState key="state" {...batch} />],
          ["Hosts", formatted(batch.targeted_host_count)],
          ["Not before", batch.not_before !== null && <Time key="from" value={batch.not_before} />],
          ["Started", <Time key="started" value={batch.started_at} none="not yet" />],
          ["Ended", <Time key="ended" value={batch.finished_at} none="not yet" />],
        ]}
      />
      {isCancelling && <CancelDialog batch={batch} onClose={() => setCancelling(false)} />}
    </>
  );
}

interface CancelDialogProps {
  readonly batch: ScriptBatch;
  readonly onClose: () => void;
}

function CancelDialog({ batch, onClose }: CancelDialogProps): ReactElement {
  const outdate = useOutdate();
  const { batch_execution_id, script_name, pending_host_count } = batch;
  const cancel = async () => {
    await client.call(scriptBatchesApi.cancel, { params: { batch_execution_id } });
    notifyDone(`${script_name}: the batch is cancelled.`);
    await outdate(scriptBatchesApi.list, scriptBatchesApi.get, scriptBatchesApi.hosts);
  };
  return (
    <ConfirmDialog
      title={`Cancel batch of ${script_name}`}
      verb="Cancel batch"
      onConfirm={cancel}
      onClose={() => onClose()}
    >
      <p>
        {counted(pending_host_count, "host")} {pending_host_count === 1 ? "has" : "have"} not answered. Those that have
        fetched the script finish it; the others do not run it. What has run stays as it is.
      </p>
    </ConfirmDialog>
  );
}

type Outcome = ScriptBatchHost["script_status"];

const outcomes: readonly {
  readonly id: Outcome;
  readonly name: string;
  readonly count: (batch: ScriptBatch) => number;
}[] = [
  { id: "ran", name: "Ran", count: ({ ran_host_count }) => ran_host_count },
  { id: "errored", name: "Failed", count: ({ errored_host_count }) => errored_host_count },
  { id: "pending", name: "Pending", count: ({ pending_host_count }) => pending_host_count },
  { id: "incompatible", name: "Not possible", count: ({ incompatible_host_count }) => incompatible_host_count },
  { id: "canceled", name: "Cancelled", count: ({ canceled_host_count }) => canceled_host_count },
];

function Outcomes({ batch }: { readonly batch: ScriptBatch }): ReactElement {
  const url = useUrl();
  const chosen = outcomes.find(({ id }) => id === url.get("outcome"));
  // Without a choice, the first outcome that a host has.
  const shown = chosen ?? outcomes.find(({ count }) => count(batch) > 0) ?? outcomes[0];
  const outcome = shown?.id ?? "ran";
  const { batch_execution_id } = batch;
  const definition = useMemo(() => hostsOf(batch_execution_id, outcome), [batch_execution_id, outcome]);
  return (
    <Tabs
      label="Hosts by outcome"
      tabs={outcomes.map(({ id, name, count }) => ({ id, name: `${name} (${formatted(count(batch))})` }))}
      selected={outcome}
      onSelect={(id) => url.set({ outcome: id, page: null })}
    >
      <List key={outcome} definition={definition} />
    </Tabs>
  );
}

const hostsOf = (
  batch_execution_id: string,
  status: Outcome,
): ListDefinition<typeof scriptBatchesApi.hosts, ScriptBatchHost> => ({
  name: "Hosts",
  thing: "host",
  endpoint: scriptBatchesApi.hosts,
  params: { batch_execution_id },
  query: { status },
  hasTeams: false,
  hasSearch: false,
  rowsOf: ({ hosts }) => hosts,
  countOf: ({ count }) => count,
  defaultOrder: { key: "display_name", direction: "asc" },
  keyOf: ({ id }) => id,
  nameOf: ({ display_name }) => display_name,
  hrefOf: ({ id }) => `/hosts/${id}/scripts`,
  columns: [
    { id: "name", name: "Name", order: "display_name", cell: ({ display_name }) => display_name },
    { id: "output", name: "Output", cell: ({ script_output_preview: preview }) => <code>{preview}</code> },
    { id: "time", name: "Ran", cell: ({ script_executed_at }) => <Time value={script_executed_at} none="" /> },
    {
      id: "whole",
      name: "Whole output",
      cell: ({ display_name, script_execution_id: id }) =>
        id !== null && <OutputButton name={display_name} executionId={id} />,
    },
  ],
  command: `scripts batch hosts ${batch_execution_id}`,
  empty: <p>No host has this outcome.</p>,
});
