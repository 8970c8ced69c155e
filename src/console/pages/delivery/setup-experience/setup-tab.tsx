import type { ReactElement } from "react";
import { OneTeam } from "../../../parts/one-team.tsx";
import { isPremium, may } from "../../../session.ts";
import { BootstrapCard } from "../../devices/bootstrap/bootstrap-card.tsx";
import { EulaCard } from "../../devices/eula/eula-card.tsx";
import { SetupAssistantCard } from "../../devices/setup-assistants/setup-assistant-card.tsx";
import { SetupScriptCard } from "./setup-script-card.tsx";
import { SetupSoftwareCard } from "./setup-software-card.tsx";
import { SetupSwitchesCard } from "./setup-switches-card.tsx";

/** What happens on the hosts of a team before their users can use them. */
export default function SetupTab(): ReactElement {
  if (!isPremium())
    return <p>Premium: what new hosts install, run and show before their users can use them is chosen here.</p>;
  return (
    <OneTeam what="Setup of the hosts" action="setup:read">
      {(teamId) => (
        <div key={teamId}>
          <SetupSoftwareCard teamId={teamId} />
          <SetupScriptCard teamId={teamId} />
          <SetupSwitchesCard teamId={teamId} />
          <BootstrapCard teamId={teamId} />
          <SetupAssistantCard teamId={teamId} />
          {may("eula:write", null) && <EulaCard />}
        </div>
      )}
    </OneTeam>
  );
}
