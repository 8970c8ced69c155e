import type { ReactElement } from "react";
import { type Policy, policiesApi } from "../../../../api/checks/policies.ts";
import { hostsApi } from "../../../../api/inventory/hosts.ts";
import { client, useOutdate } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { ConfirmDialog } from "../../../parts/confirm-dialog.tsx";
import { counted } from "../../../parts/counted.ts";

interface ResetPolicyDialogProps {
  readonly policy: Policy;
  readonly onClose: () => void;
}

export function ResetPolicyDialog({ policy, onClose }: ResetPolicyDialogProps): ReactElement {
  const outdate = useOutdate();
  const { id, name, passing_host_count, failing_host_count } = policy;
  const reset = async () => {
    await client.call(policiesApi.reset, { params: { id } });
    notifyDone(`${name}: the results are deleted.`);
    await outdate(
      policiesApi.getGlobal,
      policiesApi.getTeam,
      policiesApi.listGlobal,
      policiesApi.listTeam,
      hostsApi.list,
    );
  };
  return (
    <ConfirmDialog title={`Reset ${name}`} verb="Reset results" onConfirm={reset} onClose={() => onClose()}>
      <p>
        The results of {counted(passing_host_count + failing_host_count, "host")} are deleted. Hosts answer again soon.
        Those that still fail are newly failing then, so automations run on them again.
      </p>
    </ConfirmDialog>
  );
}
