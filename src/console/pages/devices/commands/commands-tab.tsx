import { lazy, type ReactElement, Suspense, useState } from "react";
import { type Command, commandsApi } from "../../../../api/devices/commands.ts";
import { PageLink } from "../../../frame/page-link.tsx";
import { Badge } from "../../../parts/badge.tsx";
import type { ListDefinition } from "../../../parts/list/definition.ts";
import { List } from "../../../parts/list/list-page.tsx";
import { Time } from "../../../parts/time.tsx";
import { maySomewhere } from "../../../session.ts";
import { Answer } from "./answer.tsx";
import { commandTones } from "./command-tones.ts";

const RunCommandDialog = lazy(() => import("./run-command-dialog.tsx"));

/** The commands of device management that were sent to hosts of all teams that the user may see. */
export default function CommandsTab(): ReactElement {
  const [isRunning, setRunning] = useState(false);
  return (
    <>
      {maySomewhere("commands:run") && (
        <p className="buttons">
          <button type="button" aria-haspopup="dialog" onClick={() => setRunning(true)}>
            Run command
          </button>
        </p>
      )}
      <List definition={commands} />
      {isRunning && (
        <Suspense>
          <RunCommandDialog onClose={() => setRunning(false)} />
        </Suspense>
      )}
    </>
  );
}

const nameOf = ({ hostname, host_uuid }: Command): string => hostname || host_uuid;

const commands: ListDefinition<typeof commandsApi.list, Command> = {
  name: "Commands",
  view: "commands",
  thing: "command",
  endpoint: commandsApi.list,
  hasTeams: false,
  hasSearch: false,
  rowsOf: ({ results }) => results,
  keyOf: ({ command_uuid, host_uuid }) => `${command_uuid} ${host_uuid}`,
  nameOf: ({ request_type }) => request_type,
  columns: [
    { id: "type", name: "Command", order: "request_type", cell: ({ request_type }) => request_type },
    {
      id: "host",
      name: "Host",
      order: "hostname",
      cell: (command) => (
        <PageLink href="/hosts" query={{ query: command.host_uuid, team_id: null }}>
          {nameOf(command)}
        </PageLink>
      ),
    },
    { id: "profile", name: "Profile", cell: ({ name }) => name ?? "" },
    {
      id: "status",
      name: "Status",
      order: "status",
      cell: ({ command_status, status }) => <Badge tone={commandTones[command_status]}>{status}</Badge>,
    },
    { id: "time", name: "Changed", order: "updated_at", cell: ({ updated_at }) => <Time value={updated_at} /> },
    { id: "uuid", name: "Id", isOptional: true, cell: ({ command_uuid }) => <code>{command_uuid}</code> },
    { id: "answer", name: "Answer", cell: (command) => <Answer command={command} of={nameOf(command)} /> },
  ],
  filters: [
    { name: "host_identifier", label: "Host (name, UUID or serial number)" },
    { name: "request_type", label: "Command" },
    { name: "command_uuid", label: "Id of the command" },
    {
      name: "command_status",
      label: "Status, of one host or command",
      options: ["ran", "pending", "failed"].map((value) => ({ value, label: value })),
    },
  ],
  command: "mdm commands list",
  flags: { host_identifier: "host" },
  empty: <p>Commands of device management that the server or its users send to hosts are listed here.</p>,
};
