import type { ReactElement } from "react";
import { type Policy, policiesApi } from "../../../../api/checks/policies.ts";
import { client, useOutdate } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { ConfirmDialog } from "../../../parts/confirm-dialog.tsx";
import { counted } from "../../../parts/counted.ts";

interface DeletePoliciesDialogProps {
  readonly policies: readonly Policy[];
  readonly onClose: (isDone: boolean) => void;
}

export function DeletePoliciesDialog({ policies, onClose }: DeletePoliciesDialogProps): ReactElement {
  const outdate = useOutdate();
  const what = policies.length === 1 ? policies[0]!.name : counted(policies.length, "policy", "policies");
  const remove = async () => {
    // Global policies and those of each team are deleted by requests of their own.
    for (const teamId of new Set(policies.map(({ team_id }) => team_id))) {
      const ids = policies.filter(({ team_id }) => team_id === teamId).map(({ id }) => id);
      if (teamId === null) await client.call(policiesApi.deleteGlobal, { body: { ids } });
      else await client.call(policiesApi.deleteTeam, { params: { team_id: teamId }, body: { ids } });
    }
    notifyDone(`${what}: deleted.`);
    await outdate(policiesApi.listGlobal, policiesApi.listTeam, policiesApi.countGlobal, policiesApi.countTeam);
    return true;
  };
  return (
    <ConfirmDialog title={`Delete ${what}`} verb="Delete" onConfirm={remove} onClose={(done) => onClose(done === true)}>
      <p>Their results are deleted too, and their automations stop.</p>
      <ul>
        {policies.slice(0, 10).map(({ id, name, failing_host_count }) => (
          <li key={id}>
            {name} <span className="quiet">({counted(failing_host_count, "failing host")})</span>
          </li>
        ))}
        {policies.length > 10 && <li>and {policies.length - 10} more</li>}
      </ul>
    </ConfirmDialog>
  );
}
