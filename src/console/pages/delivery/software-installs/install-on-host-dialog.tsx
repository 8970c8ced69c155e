import { type ReactElement, useState } from "react";
import { softwareInstallsApi } from "../../../../api/delivery/software-installs.ts";
import { hostsApi } from "../../../../api/inventory/hosts.ts";
import { softwareApi } from "../../../../api/software/software.ts";
import { client, useOutdate, useRead } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { Combobox } from "../../../parts/combobox.tsx";
import { ConfirmDialog } from "../../../parts/confirm-dialog.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { useSettled } from "../../../parts/form/use-settled.ts";

interface InstallOnHostDialogProps {
  readonly title: { readonly id: number; readonly name: string };
  readonly teamId: number;
  readonly onClose: () => void;
}

interface FoundHost {
  readonly id: number;
  readonly display_name: string;
}

const MAX_SHOWN = 20;

/** Installs what the team offers of a title on one of its hosts, which is chosen here. */
export default function InstallOnHostDialog({ title, teamId, onClose }: InstallOnHostDialogProps): ReactElement {
  const outdate = useOutdate();
  const [host, setHost] = useState<FoundHost | null>(null);
  if (host === null) return <HostChoice title={title} teamId={teamId} onSelect={setHost} onClose={onClose} />;
  const install = async () => {
    const params = { id: String(host.id), software_title_id: String(title.id) };
    await client.call(softwareInstallsApi.install, { params });
    notifyDone(`${title.name} will be installed on ${host.display_name}.`);
    await outdate(softwareApi.title, hostsApi.list, hostsApi.count, hostsApi.software);
  };
  return (
    <ConfirmDialog
      title={`Install ${title.name} on ${host.display_name}`}
      verb="Install"
      isDangerous={false}
      onConfirm={install}
      onClose={onClose}
    >
      <p>The host installs it when it is online, after what it was asked for before.</p>
    </ConfirmDialog>
  );
}

interface HostChoiceProps extends InstallOnHostDialogProps {
  readonly onSelect: (host: FoundHost) => void;
}

function HostChoice({ title, teamId, onSelect, onClose }: HostChoiceProps): ReactElement {
  const [text, setText] = useState("");
  const query = useSettled(text).trim();
  const { data } = useRead(hostsApi.list, {
    query: {
      team_id: teamId,
      fields: "display_name,team_id,status",
      order_key: "display_name",
      per_page: MAX_SHOWN,
      ...(query === "" ? {} : { query }),
    },
  });
  const hosts = data?.hosts ?? [];
  return (
    <Dialog title={`Install ${title.name}`} onClose={onClose}>
      <p>Choose the host. To install it on many, select them in the list of hosts.</p>
      <Combobox
        label="Host"
        listLabel="Hosts"
        placeholder="Name, serial number, address"
        value={text}
        onChange={setText}
        isAlwaysOpen
        autoFocus
        options={hosts.map(({ id, display_name, status }) => ({
          id: String(id),
          content: (
            <>
              {display_name} <span className="quiet">{status}</span>
            </>
          ),
        }))}
        onSelect={(id) => {
          const host = hosts.find((other) => String(other.id) === id);
          if (host !== undefined) onSelect(host);
        }}
      />
      {data !== undefined && hosts.length === 0 && <p className="quiet">No host of the team matches.</p>}
    </Dialog>
  );
}
