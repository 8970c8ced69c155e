import { type ReactElement, useState } from "react";
import { type SetupAssistant, setupAssistantsApi } from "../../../../api/devices/setup-assistants.ts";
import { client, useOutdate, useRead } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { Card } from "../../../parts/card.tsx";
import { ConfirmDialog } from "../../../parts/confirm-dialog.tsx";
import { Facts } from "../../../parts/facts.tsx";
import { ReadOrNone } from "../../../parts/loading/read-or-none.tsx";
import { roleTeam } from "../../../parts/one-team.tsx";
import { ScrollingText } from "../../../parts/scrolling-text.tsx";
import { Time } from "../../../parts/time.tsx";
import { may } from "../../../session.ts";
import { AssistantDialog } from "./assistant-dialog.tsx";

interface SetupAssistantCardProps {
  readonly teamId: number;
}

/** What devices show that enroll automatically: the setup assistant profile of the team, or the default one. */
export function SetupAssistantCard({ teamId }: SetupAssistantCardProps): ReactElement {
  const [dialog, setDialog] = useState<"edit" | "delete" | null>(null);
  const reply = useRead(setupAssistantsApi.get, { query: { team_id: teamId } });
  const mayWrite = may("setup:write", roleTeam(teamId));
  return (
    <Card title="Setup assistant profile">
      <ReadOrNone from={reply} what="setup assistant profile">
        {(assistant) => (
          <>
            {assistant === null ? <Default /> : <Present assistant={assistant} />}
            {mayWrite && (
              <span className="buttons">
                <button type="button" className="plain" aria-haspopup="dialog" onClick={() => setDialog("edit")}>
                  {assistant === null ? "Add setup assistant profile" : "Edit setup assistant profile"}
                </button>
                {assistant !== null && (
                  <button type="button" className="danger" aria-haspopup="dialog" onClick={() => setDialog("delete")}>
                    Delete setup assistant profile
                  </button>
                )}
              </span>
            )}
            {dialog === "edit" && (
              <AssistantDialog assistant={assistant} teamId={teamId} onClose={() => setDialog(null)} />
            )}
            {dialog === "delete" && <DeleteDialog teamId={teamId} onClose={() => setDialog(null)} />}
          </>
        )}
      </ReadOrNone>
    </Card>
  );
}

const Present = ({ assistant }: { readonly assistant: SetupAssistant }) => (
  <>
    <Facts
      facts={[
        ["Name", assistant.name],
        ["Changed", <Time key="changed" value={assistant.uploaded_at} />],
      ]}
    />
    <ProfileText profile={assistant.enrollment_profile} />
  </>
);

function Default(): ReactElement {
  const { data } = useRead(setupAssistantsApi.getDefault);
  return (
    <>
      <p>This team has none of its own: its devices get the default profile.</p>
      {data !== undefined && <ProfileText profile={data.enrollment_profile} />}
    </>
  );
}

const ProfileText = ({ profile }: { readonly profile: object }) => (
  <details>
    <summary>Profile as JSON</summary>
    <ScrollingText text={JSON.stringify(profile, null, 2)} />
  </details>
);

interface DeleteDialogProps extends SetupAssistantCardProps {
  readonly onClose: () => void;
}

function DeleteDialog({ teamId, onClose }: DeleteDialogProps): ReactElement {
  const outdate = useOutdate();
  const remove = async () => {
    await client.call(setupAssistantsApi.delete, { query: { team_id: teamId } });
    notifyDone("The setup assistant profile is deleted.");
    await outdate(setupAssistantsApi.get);
  };
  return (
    <ConfirmDialog title="Delete setup assistant profile" verb="Delete" onConfirm={remove} onClose={() => onClose()}>
      <p>Devices that enroll later get the default profile.</p>
    </ConfirmDialog>
  );
}
