import { type ReactElement, useState } from "react";
import { scriptBatchesApi } from "../../../../api/delivery/script-batches.ts";
import { scriptsApi } from "../../../../api/delivery/scripts.ts";
import { client, useOutdate, useRead } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { ConfirmDialog } from "../../../parts/confirm-dialog.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { Read } from "../../../parts/loading/read.tsx";
import { batchHref } from "../../delivery/script-batches/batch-href.ts";
import type { FrozenSelection } from "./frozen-selection.ts";
import { FirstHosts, type Guard, nameOfSelection } from "./selected-hosts.tsx";

interface RunScriptDialogProps {
  readonly frozen: FrozenSelection;
  readonly guard: Guard;
  /** The team whose scripts can be chosen. Null: hosts without a team. Undefined: the hosts are of several teams. */
  readonly teamId: number | null | undefined;
  readonly onClose: () => void;
}

/** Runs a saved script on the hosts, at once or at a later time. */
export function RunScriptDialog(props: RunScriptDialogProps): ReactElement {
  const { frozen, teamId, onClose } = props;
  const title = `Run script on ${nameOfSelection(frozen)}`;
  const query = { order_key: "name", ...(teamId ? { team_id: teamId } : {}) } as const;
  const reply = useRead(scriptsApi.list, { query }, { enabled: teamId !== undefined });
  if (teamId === undefined)
    return (
      <Dialog title={title} onClose={onClose}>
        <p>Scripts belong to a team. Select hosts of one team: choose it in the list of teams above.</p>
      </Dialog>
    );
  const scripts = reply.data?.scripts ?? [];
  if (scripts.length > 0) return <RunForm {...props} title={title} scripts={scripts} />;
  return (
    <Dialog title={title} onClose={onClose}>
      <Read from={reply} what="scripts">
        {() => (
          <p>
            There are no saved scripts for these hosts. <code>svc scripts create</code> adds one.
          </p>
        )}
      </Read>
    </Dialog>
  );
}

interface RunFormProps extends RunScriptDialogProps {
  readonly title: string;
  readonly scripts: readonly { readonly id: number; readonly name: string }[];
}

function RunForm({ frozen, guard, title, scripts, onClose }: RunFormProps): ReactElement {
  const outdate = useOutdate();
  const [script, setScript] = useState(scripts[0]!);
  const [time, setTime] = useState("");
  const confirm = () =>
    guard(async () => {
      const { target, headers } = frozen;
      const body = {
        script_id: script.id,
        ...("ids" in target ? { host_ids: target.ids } : { filters: target.filters }),
        ...(time === "" ? {} : { not_before: new Date(time).toISOString() }),
      };
      const reply = await client.call(scriptBatchesApi.create, { body }, { headers });
      notifyDone(`${script.name}: the run is on the page Controls, with its results.`, {
        link: { text: "Batch", href: batchHref(reply.batch_execution_id) },
      });
      await outdate(scriptBatchesApi.list);
    });
  return (
    <ConfirmDialog title={title} verb="Run" isDangerous={false} onConfirm={confirm} onClose={onClose}>
      <FirstHosts frozen={frozen} />
      <label className="field">
        Script
        <select
          value={script.id}
          onChange={({ target }) => setScript(scripts.find(({ id }) => String(id) === target.value) ?? script)}
        >
          {scripts.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <label className="field">
        Not before (empty: now)
        <input type="datetime-local" value={time} onChange={({ target }) => setTime(target.value)} />
      </label>
    </ConfirmDialog>
  );
}
