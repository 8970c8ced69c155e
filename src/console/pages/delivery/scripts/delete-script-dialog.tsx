import type { ReactElement } from "react";
import { type Script, scriptsApi } from "../../../../api/delivery/scripts.ts";
import { client, useOutdate } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { PageLink } from "../../../frame/page-link.tsx";
import { ConfirmDialog } from "../../../parts/confirm-dialog.tsx";
import { policyHref } from "../../checks/policies/policy-href.ts";
import { batchHref } from "../script-batches/batch-href.ts";
import { useScriptUses } from "./script-uses.ts";

interface DeleteScriptDialogProps {
  readonly script: Script;
  readonly onClose: () => void;
}

export function DeleteScriptDialog({ script, onClose }: DeleteScriptDialogProps): ReactElement {
  const outdate = useOutdate();
  const uses = useScriptUses(script);
  const { policies = [], batches = [] } = uses ?? {};
  const remove = async () => {
    await client.call(scriptsApi.delete, { params: { id: script.id } });
    notifyDone(`${script.name} is deleted.`);
    await outdate(scriptsApi.list, scriptsApi.ofHost);
  };
  return (
    <ConfirmDialog title={`Delete ${script.name}`} verb="Delete" onConfirm={remove} onClose={() => onClose()}>
      <p>The results of its runs stay. While a policy or a batch uses the script, it cannot be deleted.</p>
      {policies.length + batches.length > 0 && (
        <ul aria-label="Uses">
          {policies.map((policy) => (
            <li key={`policy-${policy.id}`}>
              Policy <PageLink href={policyHref(policy)}>{policy.name}</PageLink> runs it on hosts that fail.
            </li>
          ))}
          {batches.map(({ batch_execution_id: id, status }) => (
            <li key={id}>
              A <PageLink href={batchHref(id)}>batch</PageLink> of it is {status}.
            </li>
          ))}
        </ul>
      )}
      {uses !== undefined && policies.length + batches.length === 0 && <p>Nothing uses it now.</p>}
    </ConfirmDialog>
  );
}
