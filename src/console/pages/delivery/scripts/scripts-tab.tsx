import { lazy, type ReactElement, Suspense, useMemo, useState } from "react";
import { type Script, scriptsApi } from "../../../../api/delivery/scripts.ts";
import { client, request } from "../../../api.ts";
import { notifyFailed } from "../../../frame/notices.tsx";
import type { ListDefinition } from "../../../parts/list/definition.ts";
import { List } from "../../../parts/list/list-page.tsx";
import { OneTeam, ofTeam, roleTeam } from "../../../parts/one-team.tsx";
import { saveFile } from "../../../parts/save-file.ts";
import { Time } from "../../../parts/time.tsx";
import { may } from "../../../session.ts";
import type { OpenScriptDialog } from "./open-dialog.ts";
import { ScriptPanel } from "./script-panel.tsx";

const ScriptDialogs = lazy(() => import("./script-dialogs.tsx"));

/** The saved scripts of a team. */
export default function ScriptsTab(): ReactElement {
  return (
    <OneTeam what="Scripts" action="scripts:read">
      {(teamId) => <Scripts teamId={teamId} />}
    </OneTeam>
  );
}

function Scripts({ teamId }: { readonly teamId: number }): ReactElement {
  const [dialog, setDialog] = useState<OpenScriptDialog | null>(null);
  const definition = useMemo(() => scriptsOf(teamId, setDialog), [teamId]);
  return (
    <>
      {may("scripts:write", roleTeam(teamId)) && (
        <p className="buttons">
          <button type="button" aria-haspopup="dialog" onClick={() => setDialog({ name: "add" })}>
            Add script
          </button>
        </p>
      )}
      <List definition={definition} />
      {dialog !== null && (
        <Suspense>
          <ScriptDialogs dialog={dialog} teamId={teamId} onClose={() => setDialog(null)} />
        </Suspense>
      )}
    </>
  );
}

const scriptsOf = (
  teamId: number,
  open: (dialog: OpenScriptDialog) => void,
): ListDefinition<typeof scriptsApi.list, Script> => ({
  name: "Scripts",
  thing: "script",
  endpoint: scriptsApi.list,
  query: ofTeam(teamId),
  hasTeams: false,
  hasSearch: false,
  rowsOf: ({ scripts }) => scripts,
  defaultOrder: { key: "name", direction: "asc" },
  keyOf: ({ id }) => id,
  nameOf: ({ name }) => name,
  columns: [
    { id: "name", name: "Name", order: "name", cell: ({ name }) => name },
    { id: "kind", name: "Runs on", cell: ({ name }) => (isPowerShell(name) ? "Windows" : "macOS, Linux") },
    { id: "updated", name: "Changed", order: "updated_at", cell: ({ updated_at }) => <Time value={updated_at} /> },
    {
      id: "created",
      name: "Added",
      order: "created_at",
      isOptional: true,
      cell: ({ created_at }) => <Time value={created_at} />,
    },
    { id: "actions", name: "Actions", cell: (script) => <Actions script={script} open={open} /> },
  ],
  details: (id) => <ScriptPanel id={id} />,
  command: "scripts list",
  flags: { team_id: "team" },
  empty: (
    <p>
      A saved script can run on one host, on many at a chosen time, and on hosts that fail a policy. None exists for
      these hosts. On the command line: <code>svc scripts create</code>.
    </p>
  ),
});

const isPowerShell = (name: string): boolean => name.toLowerCase().endsWith(".ps1");

interface ActionsProps {
  readonly script: Script;
  readonly open: (dialog: OpenScriptDialog) => void;
}

function Actions({ script, open }: ActionsProps): ReactElement {
  const { name, team_id } = script;
  const button = (verb: string, dialog: "edit" | "delete" | "run") => (
    <button
      type="button"
      className={dialog === "delete" ? "danger small" : "plain small"}
      aria-label={`${verb} ${name}`}
      aria-haspopup="dialog"
      onClick={() => open({ name: dialog, script })}
    >
      {verb}
    </button>
  );
  const mayWrite = may("scripts:write", team_id);
  return (
    <span className="buttons">
      {may("scripts:run", team_id) && button("Run", "run")}
      {mayWrite && button("Edit", "edit")}
      <button
        type="button"
        className="plain small"
        aria-label={`Download ${name}`}
        onClick={() => void download(script)}
      >
        Download
      </button>
      {mayWrite && button("Delete", "delete")}
    </span>
  );
}

async function download({ id }: Script): Promise<void> {
  try {
    saveFile(await request(() => client.download(scriptsApi.get, { params: { id }, query: { alt: "media" } })));
  } catch (error) {
    notifyFailed(error);
  }
}
