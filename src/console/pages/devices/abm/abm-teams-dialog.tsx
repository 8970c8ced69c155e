import type { ReactElement } from "react";
import { type AbmToken, abmApi } from "../../../../api/devices/abm.ts";
import { client, useOutdate } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { Form, SelectField } from "../../../parts/form/form.tsx";
import { useForm } from "../../../parts/form/use-form.ts";
import { session } from "../../../session.ts";

interface AbmTeamsDialogProps {
  readonly token: AbmToken;
  readonly onClose: () => void;
}

const platforms = [
  ["macos_team_id", "Macs"],
  ["ios_team_id", "iPhones"],
  ["ipados_team_id", "iPads"],
  ["byod_team_id", "Personal devices"],
] as const;

/** Sets the teams of devices that are new in the portal, by platform. */
export function AbmTeamsDialog({ token, onClose }: AbmTeamsDialogProps): ReactElement {
  const outdate = useOutdate();
  const form = useForm({
    initial: {
      macos_team_id: String(token.macos_team?.id ?? 0),
      ios_team_id: String(token.ios_team?.id ?? 0),
      ipados_team_id: String(token.ipados_team?.id ?? 0),
      byod_team_id: String(token.byod_team?.id ?? 0),
    },
    send: (values, options) => {
      const body = Object.fromEntries(Object.entries(values).map(([name, id]) => [name, Number(id)]));
      return client.call(abmApi.teams, { params: { id: String(token.id) }, body: body as never }, options);
    },
    onDone: async () => {
      notifyDone("The teams of new devices are changed.");
      await outdate(abmApi.list);
      onClose();
    },
  });
  const options = [
    { value: "0", label: "No team" },
    ...session.data.available_teams
      .filter(({ id }) => id > 0)
      .map(({ id, name }) => ({ value: String(id), label: name })),
  ];
  return (
    <Dialog title={`Teams of new devices of ${token.org_name}`} onClose={onClose}>
      <Form form={form} submit="Save" onCancel={onClose}>
        {platforms.map(([name, label]) => (
          <SelectField key={name} form={form} name={name} label={label} options={options} />
        ))}
      </Form>
    </Dialog>
  );
}
