import type { ReactElement } from "react";
import { selectionHeaders, selectionOf } from "../../../../api/hosts/selection-digest.ts";
import { hostsApi } from "../../../../api/inventory/hosts.ts";
import { client, request, useOutdate } from "../../../api.ts";
import { notifyDone, notifyFailed } from "../../../frame/notices.tsx";
import { counted } from "../../../parts/counted.ts";
import { ListPicker } from "../../../parts/list-picker.tsx";
import { may, useSession } from "../../../session.ts";

interface TransferDialogProps {
  readonly hosts: readonly { readonly id: number; readonly display_name: string }[];
  readonly onClose: () => void;
}

/** Moves hosts to a team that the user chooses. */
export function TransferDialog({ hosts, onClose }: TransferDialogProps): ReactElement {
  const { available_teams } = useSession();
  const outdate = useOutdate();
  const teams = available_teams.filter(({ id }) => id > 0 && may("hosts:transfer", id));
  const options = [
    ...teams.map(({ id, name }) => ({ id: String(id), name })),
    ...(may("hosts:transfer", null) ? [{ id: "0", name: "No team" }] : []),
  ];
  const transfer = async (teamId: string) => {
    onClose();
    try {
      const ids = hosts.map(({ id }) => id);
      const { count, digest } = await selectionOf(ids);
      const headers = { [selectionHeaders.count]: String(count), [selectionHeaders.digest]: digest };
      const body = { team_id: teamId === "0" ? null : Number(teamId), hosts: ids };
      await request(() => client.call(hostsApi.transfer, { body }, { headers }));
      notifyDone(`${counted(hosts.length, "host")} moved to ${options.find(({ id }) => id === teamId)?.name}.`);
      await outdate(hostsApi.get, hostsApi.list, hostsApi.count);
    } catch (error) {
      notifyFailed(error);
    }
  };
  const what = hosts.length === 1 ? hosts[0]!.display_name : counted(hosts.length, "host");
  return (
    <ListPicker
      title={`Transfer ${what} to a team`}
      options={options}
      onSelect={(id) => void transfer(id)}
      onClose={onClose}
    />
  );
}
