import { type ReactElement, useMemo } from "react";
import { type Command, commandsApi } from "../../../../api/devices/commands.ts";
import type { Host } from "../../../../api/hosts/host.ts";
import { Badge } from "../../../parts/badge.tsx";
import type { ListDefinition } from "../../../parts/list/definition.ts";
import { List } from "../../../parts/list/list-page.tsx";
import { Time } from "../../../parts/time.tsx";
import { Answer } from "../../devices/commands/answer.tsx";
import { commandTones } from "../../devices/commands/command-tones.ts";

/** The commands of device management that were sent to the host, with its answers. */
export function CommandsTab({ host }: { readonly host: Host }): ReactElement {
  const { uuid, display_name } = host;
  const definition = useMemo(() => commandsOf(uuid, display_name), [uuid, display_name]);
  return <List definition={definition} />;
}

const commandsOf = (uuid: string, display_name: string): ListDefinition<typeof commandsApi.list, Command> => ({
  name: "Commands",
  thing: "command",
  endpoint: commandsApi.list,
  query: { host_identifier: uuid },
  hasTeams: false,
  hasSearch: false,
  rowsOf: ({ results }) => results,
  keyOf: ({ command_uuid }) => command_uuid,
  nameOf: ({ request_type }) => request_type,
  columns: [
    { id: "type", name: "Command", order: "request_type", cell: ({ request_type }) => request_type },
    { id: "profile", name: "Profile", cell: ({ name }) => name ?? "" },
    {
      id: "status",
      name: "Status",
      order: "status",
      cell: ({ command_status, status }) => <Badge tone={commandTones[command_status]}>{status}</Badge>,
    },
    { id: "time", name: "Changed", order: "updated_at", cell: ({ updated_at }) => <Time value={updated_at} /> },
    { id: "answer", name: "Answer", cell: (command) => <Answer command={command} /> },
  ],
  filters: [
    {
      name: "command_status",
      label: "Status",
      options: ["ran", "pending", "failed"].map((value) => ({ value, label: value })),
    },
    { name: "request_type", label: "Command" },
  ],
  command: `mdm commands list --host ${display_name}`,
  empty: <p>No command of device management was sent to this host.</p>,
});
