import { type ReactElement, useMemo, useState } from "react";
import { type Command, commandsApi } from "../../../../api/devices/commands.ts";
import type { Host } from "../../../../api/hosts/host.ts";
import { useRead } from "../../../api.ts";
import { Badge, type Tone } from "../../../parts/badge.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import type { ListDefinition } from "../../../parts/list/definition.ts";
import { List } from "../../../parts/list/list-page.tsx";
import { Read } from "../../../parts/read.tsx";
import { Time } from "../../../parts/time.tsx";

const tones: Readonly<Record<Command["command_status"], Tone>> = { ran: "good", pending: "note", failed: "bad" };

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
      cell: ({ command_status, status }) => <Badge tone={tones[command_status]}>{status}</Badge>,
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

function Answer({ command }: { readonly command: Command }): ReactElement {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button
        type="button"
        className="plain small"
        aria-label={`Show the answer to ${command.request_type}`}
        onClick={() => setOpen(true)}
      >
        Show
      </button>
      {isOpen && <AnswerDialog command={command} onClose={() => setOpen(false)} />}
    </>
  );
}

function AnswerDialog({ command, onClose }: { readonly command: Command; readonly onClose: () => void }): ReactElement {
  const query = { command_uuid: command.command_uuid, host_identifier: command.host_uuid };
  const reply = useRead(commandsApi.results, { query });
  return (
    <Dialog title={command.request_type} isWide onClose={onClose}>
      <Read from={reply} what="answer">
        {({ results = [] }) =>
          results.length === 0 ? (
            <p>The host has not answered yet.</p>
          ) : (
            results.map(({ command_uuid, payload, result }) => (
              <div key={command_uuid}>
                <h3>Command</h3>
                <pre>{decoded(payload)}</pre>
                <h3>Answer</h3>
                <pre>{decoded(result)}</pre>
              </div>
            ))
          )
        }
      </Read>
    </Dialog>
  );
}

/** The text in base64; UTF-8. */
const decoded = (base64: string): string =>
  new TextDecoder().decode(Uint8Array.from(atob(base64), (character) => character.charCodeAt(0)));
