import { type ReactElement, useState } from "react";
import { commandsApi } from "../../../../api/devices/commands.ts";
import type { Host } from "../../../../api/hosts/host.ts";
import { selectionHeaders, selectionOf } from "../../../../api/hosts/selection-digest.ts";
import { hostsApi } from "../../../../api/inventory/hosts.ts";
import { client, useOutdate } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { ConfirmDialog } from "../../../parts/confirm-dialog.tsx";
import { counted } from "../../../parts/counted.ts";
import { Dialog } from "../../../parts/dialog.tsx";
import { Form, TextAreaField } from "../../../parts/form/form.tsx";
import { useForm } from "../../../parts/form/use-form.ts";
import { linesOf } from "../../hosts/labels/lines.ts";

/** A command that the server has checked, for these hosts. */
interface CheckedCommand {
  readonly type: string;
  readonly body: { readonly command: string; readonly host_uuids: string[] };
  readonly hosts: readonly Host[];
}

/** Sends a command of device management to hosts: first it is checked, then the hosts are shown. */
export default function RunCommandDialog({ onClose }: { readonly onClose: () => void }): ReactElement {
  const [checked, setChecked] = useState<CheckedCommand | null>(null);
  const form = useForm({
    initial: { command: "", host_uuids: "" },
    hasDryRun: false,
    send: async ({ command, host_uuids }): Promise<CheckedCommand> => {
      const hosts = await Promise.all(linesOf(host_uuids).map(hostNamed));
      const body = { command: encoded(command), host_uuids: hosts.map(({ uuid }) => uuid) };
      const { request_type } = await client.call(commandsApi.run, { body }, { dryRun: true });
      return { type: request_type, body, hosts };
    },
    onDone: setChecked,
  });
  return (
    <Dialog title="Run command" isWide hasChanges={form.isChanged} onClose={onClose}>
      <Form form={form} submit="Continue" onCancel={onClose}>
        <TextAreaField
          form={form}
          name="host_uuids"
          label="Hosts"
          rows={4}
          hint="Hostnames, UUIDs or serial numbers, one on each line; all of one platform."
        />
        <TextAreaField
          form={form}
          name="command"
          label="Command"
          rows={12}
          hint="For Apple devices a property list with Command.RequestType, for Windows devices SyncML, for Android devices JSON with a type."
        />
      </Form>
      {checked !== null && (
        <RunDialog
          checked={checked}
          onClose={(isDone) => {
            setChecked(null);
            if (isDone) onClose();
          }}
        />
      )}
    </Dialog>
  );
}

const hostNamed = async (identifier: string): Promise<Host> =>
  (await client.call(hostsApi.byIdentifier, { params: { identifier }, query: { exclude_software: true } })).host;

/** The text in base64; UTF-8. */
const encoded = (text: string): string =>
  btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(""));

const MAX_SHOWN = 10;

interface RunDialogProps {
  readonly checked: CheckedCommand;
  readonly onClose: (isDone: boolean) => void;
}

function RunDialog({ checked, onClose }: RunDialogProps): ReactElement {
  const { type, body, hosts } = checked;
  const outdate = useOutdate();
  const run = async () => {
    const { count, digest } = await selectionOf(hosts.map(({ id }) => id));
    const headers = { [selectionHeaders.count]: String(count), [selectionHeaders.digest]: digest };
    await client.call(commandsApi.run, { body }, { headers });
    notifyDone(`${type} is sent to ${counted(hosts.length, "host")}.`);
    await outdate(commandsApi.list);
    return true;
  };
  return (
    <ConfirmDialog
      title={`Run ${type} on ${hosts.length === 1 ? hosts[0]!.display_name : counted(hosts.length, "host")}`}
      verb="Run"
      typed={hosts.length === 1 ? hosts[0]!.display_name : String(hosts.length)}
      onConfirm={run}
      onClose={(isDone) => onClose(isDone === true)}
    >
      <p>Hosts carry it out when they next connect. What it does there cannot be undone from here.</p>
      <ul>
        {hosts.slice(0, MAX_SHOWN).map(({ id, display_name }) => (
          <li key={id}>{display_name}</li>
        ))}
        {hosts.length > MAX_SHOWN && <li>and {hosts.length - MAX_SHOWN} more</li>}
      </ul>
    </ConfirmDialog>
  );
}
