import { type ReactElement, useMemo } from "react";
import { type HostScript, scriptsApi } from "../../../../api/delivery/scripts.ts";
import type { Host } from "../../../../api/hosts/host.ts";
import { client, request, useOutdate } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { useAction } from "../../../parts/action.ts";
import { Badge } from "../../../parts/badge.tsx";
import type { ListDefinition } from "../../../parts/list/definition.ts";
import { List } from "../../../parts/list/list-page.tsx";
import { Time } from "../../../parts/time.tsx";
import { may } from "../../../session.ts";
import { OutputButton } from "../../delivery/scripts/output-dialog.tsx";

/** The scripts that can run on the host, with their last results. */
export function ScriptsTab({ host }: { readonly host: Host }): ReactElement {
  const outdate = useOutdate();
  const { id, team_id, display_name } = host;
  const { run } = useAction(async ({ script_id, name }: HostScript) => {
    await request(() => client.call(scriptsApi.run, { body: { host_id: id, script_id } }));
    notifyDone(`${name} runs when the host is online.`);
    await outdate(scriptsApi.ofHost);
  });
  const definition = useMemo(() => scriptsOf({ id, team_id, display_name }, run), [id, team_id, display_name, run]);
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
          script.last_execution !== null && (
            <OutputButton name={script.name} executionId={script.last_execution.execution_id} />
          ),
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
