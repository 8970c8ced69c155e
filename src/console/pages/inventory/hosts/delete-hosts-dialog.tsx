import type { ReactElement } from "react";
import { hostsApi } from "../../../../api/inventory/hosts.ts";
import { client, useOutdate } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { ConfirmDialog } from "../../../parts/confirm-dialog.tsx";
import { counted } from "../../../parts/counted.ts";
import type { FrozenSelection } from "./frozen-selection.ts";
import { FirstHosts, type Guard, nameOfSelection } from "./selected-hosts.tsx";

interface DeleteHostsDialogProps {
  readonly frozen: FrozenSelection;
  readonly guard: Guard;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** Deletes the hosts, after the user has typed their number, or the name of a single one. */
export function DeleteHostsDialog({ frozen, guard, onClose, onDone }: DeleteHostsDialogProps): ReactElement {
  const outdate = useOutdate();
  const { count, headers, target } = frozen;
  const name = nameOfSelection(frozen);
  const confirm = () =>
    guard(async () => {
      const reply = await client.call(hostsApi.deleteMany, { body: target }, { headers });
      if (reply.approval !== undefined)
        notifyDone("Another user has to approve it first.", {
          link: { text: `Request ${reply.approval.id}`, href: "/changes" },
        });
      else if (reply.task_id !== undefined)
        notifyDone(`${name}: a task deletes the rest.`, {
          link: { text: `Task ${reply.task_id}`, href: `/changes?tab=tasks&panel=${reply.task_id}` },
        });
      else notifyDone(count === 1 ? `${name} is deleted.` : `${counted(count, "host")} are deleted.`);
      if (reply.approval === undefined) onDone();
      await outdate(hostsApi.list, hostsApi.count, hostsApi.get, hostsApi.facets);
    });
  return (
    <ConfirmDialog
      title={`Delete ${name}`}
      verb="Delete"
      typed={count === 1 ? name : String(count)}
      onConfirm={confirm}
      onClose={onClose}
    >
      <FirstHosts frozen={frozen} />
      <p>
        What is stored about {count === 1 ? "it" : "them"} is deleted too. This cannot be undone. A host whose agent
        still runs enrolls again.
      </p>
    </ConfirmDialog>
  );
}
