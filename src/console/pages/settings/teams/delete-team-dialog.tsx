import type { ReactElement } from "react";
import { type Team, teamsApi } from "../../../../api/settings/teams.ts";
import { client, useOutdate } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { ConfirmDialog } from "../../../parts/confirm-dialog.tsx";
import { counted } from "../../../parts/counted.ts";
import { PlanButton } from "../../../parts/plans/plan-button.tsx";
import { session } from "../../../session.ts";
import { useTeamId, useUrl } from "../../../url.ts";
import { planOfTeamDeletion } from "./team-plan.ts";

interface DeleteTeamDialogProps {
  readonly team: Team;
  readonly onClose: () => void;
}

export function DeleteTeamDialog({ team, onClose }: DeleteTeamDialogProps): ReactElement {
  const outdate = useOutdate();
  const url = useUrl();
  const selectedId = useTeamId();
  const remove = async () => {
    await client.call(teamsApi.delete, { params: { id: String(team.id) } });
    notifyDone(`The team ${team.name} is deleted.`);
    await removed();
  };
  const removed = async () => {
    if (selectedId === team.id) url.set({ team_id: null }, { replace: true });
    await Promise.all([outdate(teamsApi.list), session.renew()]);
  };
  return (
    <ConfirmDialog
      title={`Delete ${team.name}`}
      verb="Delete"
      typed={team.name}
      onConfirm={remove}
      onClose={() => onClose()}
    >
      <p>
        {counted(team.host_count, "host")} of the team will have no team, and {counted(team.user_count, "user")} lose
        their role on it. Its policies, queries, profiles, scripts and software are deleted. This cannot be undone.
      </p>
      <PlanButton
        name={team.name}
        change={() => planOfTeamDeletion(team.name)}
        onApplied={() => void removed().then(() => onClose())}
        onKept={onClose}
      />
    </ConfirmDialog>
  );
}
