import type { ReactElement } from "react";
import { hostsApi } from "../../../../api/inventory/hosts.ts";
import { client, request, useOutdate } from "../../../api.ts";
import { notifyDone, notifyFailed } from "../../../frame/notices.tsx";
import { counted } from "../../../parts/counted.ts";
import { ListPicker } from "../../../parts/list-picker.tsx";
import { useTeamsWith } from "../../../parts/one-team.tsx";
import type { FrozenSelection } from "../hosts/frozen-selection.ts";
import { nameOfSelection } from "../hosts/selected-hosts.tsx";

interface TransferDialogProps {
  readonly frozen: FrozenSelection;
  readonly onClose: () => void;
}

/** Moves hosts to a team that the user chooses. */
export function TransferDialog({ frozen, onClose }: TransferDialogProps): ReactElement {
  const { count } = frozen;
  const outdate = useOutdate();
  const options = useTeamsWith("hosts:transfer").map(({ id, name }) => ({ id: String(id), name }));
  const refresh = () => outdate(hostsApi.get, hostsApi.list, hostsApi.count, hostsApi.facets);
  const transfer = async (teamId: string) => {
    onClose();
    const { target, headers } = frozen;
    const team_id = teamId === "0" ? null : Number(teamId);
    try {
      await request(() =>
        "ids" in target
          ? client.call(hostsApi.transfer, { body: { team_id, hosts: target.ids } }, { headers })
          : client.call(hostsApi.transferByFilter, { body: { team_id, filters: target.filters } }, { headers }),
      );
      notifyDone(`${counted(count, "host")} moved to ${options.find(({ id }) => id === teamId)?.name}.`);
      await refresh();
    } catch (error) {
      notifyFailed(error);
    }
  };
  return (
    <ListPicker
      title={`Transfer ${nameOfSelection(frozen)} to a team`}
      options={options}
      onSelect={(id) => void transfer(id)}
      onClose={onClose}
    />
  );
}
