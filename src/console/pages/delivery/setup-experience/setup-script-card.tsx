import { type ReactElement, useState } from "react";
import { type SetupScript, setupExperienceApi } from "../../../../api/delivery/setup-experience.ts";
import { client, request, useOutdate, useRead, useReadText } from "../../../api.ts";
import { notifyDone, notifyFailed } from "../../../frame/notices.tsx";
import { Card } from "../../../parts/card.tsx";
import { ConfirmDialog } from "../../../parts/confirm-dialog.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { Facts } from "../../../parts/facts.tsx";
import { Form, TextField } from "../../../parts/form/form.tsx";
import { useForm } from "../../../parts/form/use-form.ts";
import { ReadOrNone } from "../../../parts/loading/read-or-none.tsx";
import { roleTeam } from "../../../parts/one-team.tsx";
import { saveFile } from "../../../parts/save-file.ts";
import { ScrollingText } from "../../../parts/scrolling-text.tsx";
import { Time } from "../../../parts/time.tsx";
import { may } from "../../../session.ts";
import { fileOf, ScriptField } from "../scripts/script-field.tsx";

interface TeamProps {
  readonly teamId: number;
}

/** The script that hosts of the team run at the end of their setup. */
export function SetupScriptCard({ teamId }: TeamProps): ReactElement {
  const [dialog, setDialog] = useState<"add" | "delete" | null>(null);
  const reply = useRead(setupExperienceApi.script, { query: { team_id: teamId } });
  const mayWrite = may("setup:write", roleTeam(teamId));
  const close = () => setDialog(null);
  return (
    <Card title="Script">
      <ReadOrNone from={reply} what="script">
        {(value) =>
          value === null ? (
            <>
              <p>Hosts run no script at the end of their setup.</p>
              {mayWrite && (
                <button type="button" className="plain" aria-haspopup="dialog" onClick={() => setDialog("add")}>
                  Add setup script
                </button>
              )}
            </>
          ) : (
            <ScriptFacts
              script={value as SetupScript}
              teamId={teamId}
              {...(mayWrite ? { onDelete: () => setDialog("delete") } : {})}
            />
          )
        }
      </ReadOrNone>
      {dialog === "add" && <AddDialog teamId={teamId} onClose={close} />}
      {dialog === "delete" && <DeleteDialog teamId={teamId} onClose={close} />}
    </Card>
  );
}

interface ScriptFactsProps extends TeamProps {
  readonly script: SetupScript;
  readonly onDelete?: () => void;
}

function ScriptFacts({ script, teamId, onDelete }: ScriptFactsProps): ReactElement {
  const input = { query: { team_id: teamId, alt: "media" } } as const;
  const [isShown, setShown] = useState(false);
  const text = useReadText(setupExperienceApi.script, input, { enabled: isShown });
  const download = async () => {
    try {
      saveFile(await request(() => client.download(setupExperienceApi.script, input)));
    } catch (error) {
      notifyFailed(error);
    }
  };
  return (
    <>
      <Facts
        facts={[
          ["Name", script.name],
          ["Added", <Time key="added" value={script.created_at} />],
        ]}
      />
      <span className="buttons">
        <button type="button" className="plain" aria-expanded={isShown} onClick={() => setShown(!isShown)}>
          {isShown ? "Hide script" : "Show script"}
        </button>
        <button type="button" className="plain" onClick={() => void download()}>
          Download script
        </button>
        {onDelete !== undefined && (
          <button type="button" className="danger" aria-haspopup="dialog" onClick={onDelete}>
            Delete script
          </button>
        )}
      </span>
      {isShown && text.data !== undefined && <ScrollingText text={text.data} />}
    </>
  );
}

interface TeamDialogProps extends TeamProps {
  readonly onClose: () => void;
}

function AddDialog({ teamId, onClose }: TeamDialogProps): ReactElement {
  const outdate = useOutdate();
  const form = useForm({
    initial: { name: "setup.sh", script: "" },
    send: ({ name, script }, options) => {
      const body = { team_id: teamId, script: fileOf(name.trim(), script) };
      return client.call(setupExperienceApi.addScript, { body }, options);
    },
    onDone: () => {
      notifyDone("The setup script is added.");
      onClose();
      void outdate(setupExperienceApi.script);
    },
  });
  return (
    <Dialog title="Add setup script" isWide hasChanges={form.isChanged} onClose={onClose}>
      <Form form={form} submit="Add setup script" onCancel={onClose}>
        <ScriptField form={form} onFile={(name) => form.set("name", name)}>
          <TextField form={form} name="name" label="Name" />
        </ScriptField>
      </Form>
    </Dialog>
  );
}

function DeleteDialog({ teamId, onClose }: TeamDialogProps): ReactElement {
  const outdate = useOutdate();
  const remove = async () => {
    await client.call(setupExperienceApi.deleteScript, { query: { team_id: teamId } });
    notifyDone("The setup script is deleted.");
    await outdate(setupExperienceApi.script);
  };
  return (
    <ConfirmDialog title="Delete setup script" verb="Delete" onConfirm={remove} onClose={() => onClose()}>
      <p>Hosts that begin their setup later do not run it.</p>
    </ConfirmDialog>
  );
}
