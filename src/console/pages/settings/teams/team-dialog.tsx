import type { ReactElement } from "react";
import { type Team, teamsApi } from "../../../../api/settings/teams.ts";
import { client, useOutdate } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { Form, TextField } from "../../../parts/form/form.tsx";
import { useForm } from "../../../parts/form/use-form.ts";
import { CANNOT_RENAME, PlanButton } from "../../../parts/plans/plan-button.tsx";
import { session } from "../../../session.ts";
import { planOfTeam } from "./team-plan.ts";

interface TeamDialogProps {
  /** Null: a new team. */
  readonly team: Team | null;
  readonly onClose: () => void;
}

/** Creates a team, or changes its name and description. */
export function TeamDialog({ team, onClose }: TeamDialogProps): ReactElement {
  const outdate = useOutdate();
  const form = useForm({
    initial: { name: team?.name ?? "", description: team?.description ?? "" },
    send: (body, options, changed): Promise<unknown> =>
      team === null
        ? client.call(teamsApi.create, { body }, options)
        : client.call(teamsApi.modify, { params: { id: String(team.id) }, body: changed }, options),
    onDone: async (_, { name }) => {
      notifyDone(team === null ? `The team ${name} is created.` : `The team ${name} is changed.`);
      await changed();
    },
  });
  const changed = async () => {
    // The teams of the session are those to choose from everywhere.
    await Promise.all([outdate(teamsApi.list), session.renew()]);
    onClose();
  };
  const plan = () => {
    const { name, description } = form.values;
    return team === null || team.name === name ? planOfTeam(name, { description }) : CANNOT_RENAME;
  };
  return (
    <Dialog title={team === null ? "Create team" : `Edit ${team.name}`} onClose={onClose}>
      <Form
        form={form}
        submit={team === null ? "Create team" : "Save"}
        beside={<PlanButton name={form.values.name} change={plan} onApplied={() => void changed()} onKept={onClose} />}
        onCancel={onClose}
      >
        <TextField form={form} name="name" label="Name" />
        <TextField form={form} name="description" label="Description" />
      </Form>
    </Dialog>
  );
}
