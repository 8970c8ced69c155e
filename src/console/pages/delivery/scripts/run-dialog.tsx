import { type ReactElement, useMemo, useState } from "react";
import { scriptBatchesApi } from "../../../../api/delivery/script-batches.ts";
import { type Script, scriptsApi } from "../../../../api/delivery/scripts.ts";
import { client, useOutdate } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { ConfirmDialog } from "../../../parts/confirm-dialog.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { RadioChoices } from "../../../parts/form/choices.tsx";
import { Form, TextField } from "../../../parts/form/form.tsx";
import { useForm } from "../../../parts/form/use-form.ts";
import { isPremium } from "../../../session.ts";
import { useGo } from "../../../url.ts";
import { hostDeeds } from "../../inventory/hosts/frozen-selection.ts";
import { FirstHosts, Frozen, type HostSelection, nameOfSelection } from "../../inventory/hosts/selected-hosts.tsx";
import { SelectorField } from "../../inventory/live-queries/selector-field.tsx";
import { TargetCount } from "../../inventory/live-queries/target-count.tsx";
import { HostSearch } from "../../inventory/live-queries/target-list.tsx";
import { batchHref } from "../script-batches/batch-href.ts";
import { OutputDialog } from "./output-dialog.tsx";

interface RunDialogProps {
  readonly script: Script;
  readonly onClose: () => void;
}

type Mode = "host" | "selector";

/** Runs a saved script on one host, or on all hosts that a selector matches. */
export function RunDialog({ script, onClose }: RunDialogProps): ReactElement {
  const [mode, setMode] = useState<Mode>("host");
  const [batch, setBatch] = useState<BatchPlan | null>(null);
  const [execution, setExecution] = useState<string | null>(null);
  if (execution !== null) return <OutputDialog name={script.name} executionId={execution} onClose={onClose} />;
  if (batch !== null) return <BatchDialog script={script} plan={batch} onClose={onClose} />;
  return (
    <Dialog title={`Run ${script.name}`} isWide onClose={onClose}>
      <RadioChoices
        legend="Where"
        options={[
          ["host", "One host"],
          ["selector", "All hosts that a selector matches"],
        ]}
        value={mode}
        onChange={setMode}
      />
      {mode === "host" ? (
        <OneHost script={script} onStarted={setExecution} onClose={onClose} />
      ) : (
        <ManyHosts script={script} onPlanned={setBatch} onClose={onClose} />
      )}
    </Dialog>
  );
}

interface OneHostProps extends RunDialogProps {
  readonly onStarted: (executionId: string) => void;
}

function OneHost({ script, onStarted, onClose }: OneHostProps): ReactElement {
  const outdate = useOutdate();
  const form = useForm({
    initial: { host_id: 0, host_name: "" },
    hasDryRun: false,
    send: ({ host_id }) => client.call(scriptsApi.run, { body: { host_id, script_id: script.id } }),
    onDone: ({ execution_id }, { host_name }) => {
      notifyDone(`${script.name} runs on ${host_name} when it is online.`);
      void outdate(scriptsApi.ofHost);
      onStarted(execution_id);
    },
  });
  const { host_id, host_name } = form.values;
  const error = form.errorOf("host_id");
  return (
    <Form form={form} submit="Run" onCancel={onClose}>
      <HostSearch
        queryId={null}
        hosts={[]}
        label="Host"
        onSelect={({ id, name }) => {
          form.set("host_id", id);
          form.set("host_name", name ?? String(id));
        }}
      />
      <p role="status">{host_id === 0 ? "No host is chosen yet." : `Host: ${host_name}`}</p>
      {error !== null && (
        <p className="wrong" role="alert">
          {error}
        </p>
      )}
    </Form>
  );
}

interface BatchPlan {
  readonly where: string;
  /** Empty: now. */
  readonly time: string;
}

interface ManyHostsProps extends RunDialogProps {
  readonly onPlanned: (plan: BatchPlan) => void;
}

function ManyHosts({ script, onPlanned, onClose }: ManyHostsProps): ReactElement {
  const teamId = isPremium() ? (script.team_id ?? 0) : null;
  const [where, setWhere] = useState("");
  const form = useForm({
    initial: { time: "" },
    hasDryRun: false,
    send: async ({ time }) => {
      if (where.trim() === "") throw new Error("Type a selector that matches the hosts");
      return { where: where.trim(), time };
    },
    onDone: onPlanned,
  });
  return (
    <Form form={form} submit="Continue" onCancel={onClose}>
      <SelectorField value={where} teamId={teamId} onChange={setWhere} />
      <TargetCount targets={{ where }} teamId={teamId} queryId={null} />
      <TextField
        form={form}
        name="time"
        label="Not before"
        type="datetime-local"
        hint="In the time of this browser. Empty: now."
      />
    </Form>
  );
}

interface BatchDialogProps extends RunDialogProps {
  readonly plan: BatchPlan;
}

/** The hosts as they are now, before the script is run on them. */
function BatchDialog({ script, plan, onClose }: BatchDialogProps): ReactElement {
  const outdate = useOutdate();
  const go = useGo();
  const { where, time } = plan;
  const selection = useMemo<HostSelection>(
    () => ({
      kind: "matching",
      count: 0,
      filters: { where, ...(isPremium() ? { team_id: String(script.team_id ?? 0) } : {}) },
    }),
    [where, script.team_id],
  );
  return (
    <Frozen selection={selection} deed={hostDeeds.script} verb="Run script on" onClose={onClose}>
      {(frozen, guard) => (
        <ConfirmDialog
          title={`Run ${script.name} on ${nameOfSelection(frozen)}`}
          verb="Run"
          isDangerous={false}
          onConfirm={() =>
            guard(async () => {
              const { target, headers } = frozen;
              const hosts = "ids" in target ? { host_ids: target.ids } : { filters: target.filters };
              const start = time === "" ? {} : { not_before: new Date(time).toISOString() };
              const body = { script_id: script.id, ...hosts, ...start };
              const reply = await client.call(scriptBatchesApi.create, { body }, { headers });
              notifyDone(`${script.name}: the batch is ${time === "" ? "started" : "scheduled"}.`);
              await outdate(scriptBatchesApi.list);
              return reply.batch_execution_id;
            })
          }
          onClose={(id) => {
            onClose();
            if (typeof id === "string") go(batchHref(id));
          }}
        >
          <p>
            <code>{where}</code>
            {time !== "" && `, not before ${new Date(time).toLocaleString("en-GB")}`}
          </p>
          <FirstHosts frozen={frozen} />
          <p>Runs that hosts have not fetched can be cancelled. What has run cannot be undone.</p>
        </ConfirmDialog>
      )}
    </Frozen>
  );
}
