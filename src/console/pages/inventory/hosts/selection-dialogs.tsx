import type { ReactElement } from "react";
import { may, useSession } from "../../../session.ts";
import { useTeamId } from "../../../url.ts";
import { BulkActionDialog } from "../bulk-actions/action-dialog.tsx";
import { InstallDialog } from "../bulk-actions/install-dialog.tsx";
import { LabelsDialog } from "../bulk-actions/labels-dialog.tsx";
import { TransferDialog } from "../host-details/transfer-dialog.tsx";
import { DeleteHostsDialog } from "./delete-hosts-dialog.tsx";
import { hostDeeds } from "./frozen-selection.ts";
import { RunScriptDialog } from "./run-script-dialog.tsx";
import { Frozen, type HostSelection } from "./selected-hosts.tsx";

export interface OpenDialog {
  readonly name: keyof typeof hostDeeds;
  readonly selection: HostSelection;
  readonly clear: () => void;
}

const verbs: Readonly<Record<OpenDialog["name"], string>> = {
  delete: "Delete",
  transfer: "Transfer",
  script: "Run script on",
  refetch: "Refetch",
  labels: "Label",
  install: "Install software on",
  uninstall: "Uninstall software from",
  lock: "Lock",
  unlock: "Unlock",
  wipe: "Wipe",
};

/** The dialog of what is done with the selected hosts. */
export default function SelectionDialog({
  name,
  selection,
  clear,
  onClose,
}: OpenDialog & { readonly onClose: () => void }): ReactElement {
  const teamId = useScriptTeam(selection);
  return (
    <Frozen selection={selection} deed={hostDeeds[name]} verb={verbs[name]} onClose={onClose}>
      {(frozen, guard): ReactElement => {
        const props = { frozen, guard, onClose };
        if (name === "delete") return <DeleteHostsDialog {...props} onDone={clear} />;
        if (name === "transfer") return <TransferDialog {...props} />;
        if (name === "script") return <RunScriptDialog {...props} teamId={teamId} />;
        if (name === "labels") return <LabelsDialog {...props} />;
        if (name === "install" || name === "uninstall") return <InstallDialog {...props} kind={name} />;
        return <BulkActionDialog {...props} name={name} />;
      }}
    </Frozen>
  );
}

/** The team whose scripts run on all these hosts. Undefined: they are of several, as far as is known here. */
function useScriptTeam(selection: HostSelection): number | null | undefined {
  const pageTeam = useTeamId();
  const hasTeams = useSession().available_teams.some(({ id }) => id > 0);
  if (pageTeam !== null) return pageTeam === 0 ? null : pageTeam;
  if (selection.kind === "matching") return hasTeams ? undefined : null;
  const teams = new Set(selection.rows.filter(({ team_id }) => may("scripts:run", team_id)).map((row) => row.team_id));
  return teams.size > 1 ? undefined : ([...teams][0] ?? null);
}
