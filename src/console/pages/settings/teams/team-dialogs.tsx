// The dialogs of the list of teams, loaded with the first of them.
import type { ReactElement } from "react";
import type { Team } from "../../../../api/settings/teams.ts";
import { Dialog } from "../../../parts/dialog.tsx";
import { TeamSecrets } from "../enroll-secrets/enroll-secrets.tsx";
import type { OpenDialog } from "../list-section.tsx";
import { DeleteTeamDialog } from "./delete-team-dialog.tsx";
import { TeamDialog } from "./team-dialog.tsx";

export type TeamDialogKind = "create" | "edit" | "secrets" | "delete";

interface TeamDialogsProps {
  readonly dialog: OpenDialog<TeamDialogKind, Team>;
  readonly onClose: () => void;
}

export default function TeamDialogs({ dialog: { kind, row }, onClose }: TeamDialogsProps): ReactElement {
  if (row === null || kind === "edit") return <TeamDialog team={row} onClose={onClose} />;
  if (kind === "delete") return <DeleteTeamDialog team={row} onClose={onClose} />;
  return (
    <Dialog title={`Enroll secrets of ${row.name}`} isWide onClose={onClose}>
      <TeamSecrets teamId={row.id} />
    </Dialog>
  );
}
