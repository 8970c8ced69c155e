import { type ReactElement, useMemo, useState } from "react";
import { type HostScript, scriptsApi } from "../../../../api/delivery/scripts.ts";
import type { Host } from "../../../../api/hosts/host.ts";
import { client, request, useOutdate, useRead } from "../../../api.ts";
import { notifyDone, notifyFailed } from "../../../frame/notices.tsx";
import { Badge } from "../../../parts/badge.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { Facts } from "../../../parts/facts.tsx";
import type { ListDefinition } from "../../../parts/list/definition.ts";
import { List } from "../../../parts/list/list-page.tsx";
import { Read } from "../../../parts/read.tsx";
import { Time } from "../../../parts/time.tsx";
import { may } from "../../../session.ts";

/** The scripts that can run on the host, with their last results. */
export function ScriptsTab({ host }: { readonly host: Host }): ReactElement {
  const outdate = useOutdate();
  const { id, team_id, display_name } = host;
  const definition = useMemo(() => {
    const run = async ({ script_id, name }: HostScript) => {
      try {
        await request(() => client.call(scriptsApi.run, { body: { host_id: id, script_id } }));
        notifyDone(`${name} runs when the host is online.`);
        await outdate(scriptsApi.ofHost);
      } catch (error) {
        notifyFailed(error);
      }
    };
    return scriptsOf({ id, team_id, display_name }, (script) => void run(script));
  }, [id, team_id, display_name, outdate]);
  return <List definition={definition} />;
}

const states = {
  ran: <Badge tone="good">ran</Badge>,
  pending: <Badge tone="note">pending</Badge>,
  error: <Badge tone="bad">error</Badge>,
} as const;

function scriptsOf(
  host: Pick<Host, "id" | "team_id" | "display_name">,
  onRun: (script: HostScript) => void,
): ListDefinition<typeof scriptsApi.ofHost, HostScript> {
  const mayRun = may("scripts:run", host.team_id);
  return {
    name: "Scripts",
    thing: "script",
    endpoint: scriptsApi.ofHost,
    params: { id: host.id },
    hasTeams: false,
    hasSearch: false,
    rowsOf: ({ scripts }) => scripts,
    defaultOrder: { key: "name", direction: "asc" },
    keyOf: ({ script_id }) => script_id,
    nameOf: ({ name }) => name,
    columns: [
      { id: "name", name: "Name", order: "name", cell: ({ name }) => name },
      { id: "state", name: "Last run", cell: ({ last_execution: last }) => last !== null && states[last.status] },
      {
        id: "time",
        name: "Time",
        cell: ({ last_execution: last }) => <Time value={last?.executed_at} />,
      },
      {
        id: "output",
        name: "Output",
        cell: (script) =>
          script.last_execution !== null && <Output name={script.name} id={script.last_execution.execution_id} />,
      },
      {
        id: "action",
        name: "Action",
        cell: (script) =>
          mayRun && (
            <button
              type="button"
              className="plain small"
              aria-label={`Run ${script.name}`}
              disabled={script.last_execution?.status === "pending"}
              onClick={() => onRun(script)}
            >
              Run
            </button>
          ),
      },
    ],
    command: `hosts scripts ${host.display_name}`,
    empty: <p>No saved script can run on this host.</p>,
  };
}

function Output({ name, id }: { readonly name: string; readonly id: string }): ReactElement {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button
        type="button"
        className="plain small"
        aria-label={`Show the output of ${name}`}
        onClick={() => setOpen(true)}
      >
        Show
      </button>
      {isOpen && <OutputDialog name={name} id={id} onClose={() => setOpen(false)} />}
    </>
  );
}

interface OutputDialogProps {
  readonly name: string;
  readonly id: string;
  readonly onClose: () => void;
}

function OutputDialog({ name, id, onClose }: OutputDialogProps): ReactElement {
  const reply = useRead(scriptsApi.result, { params: { execution_id: id } }, { isLive: true });
  return (
    <Dialog title={`Output of ${name}`} isWide onClose={onClose}>
      <Read from={reply} what="output">
        {({ exit_code, runtime, message, output }) => (
          <>
            <Facts
              facts={[
                ["Exit code", exit_code === null ? "waiting for the host" : String(exit_code)],
                ["Run time", `${runtime} s`],
                ["Message", message],
              ]}
            />
            <pre>{output}</pre>
          </>
        )}
      </Read>
    </Dialog>
  );
}
