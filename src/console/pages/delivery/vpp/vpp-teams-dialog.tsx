import type { ReactElement } from "react";
import { type VppToken, vppApi } from "../../../../api/delivery/vpp.ts";
import { client, useOutdate } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { Form, SelectField } from "../../../parts/form/form.tsx";
import { useForm } from "../../../parts/form/use-form.ts";
import { session } from "../../../session.ts";

interface VppTeamsDialogProps {
  readonly token: VppToken;
  readonly onClose: () => void;
}

interface TeamsValues extends Record<string, unknown> {
  readonly scope: string;
  readonly team_ids: readonly number[];
}

const scopes = [
  { value: "all", label: "All teams, and hosts without a team" },
  { value: "some", label: "Some teams" },
  { value: "none", label: "No teams" },
];

const teamIdsOf = ({ teams }: VppToken): readonly number[] => (teams ?? []).map(({ team_id }) => team_id);

/** Sets the teams whose apps a token licenses. */
export function VppTeamsDialog({ token, onClose }: VppTeamsDialogProps): ReactElement {
  const outdate = useOutdate();
  const { teams } = token;
  const initial: TeamsValues = {
    scope: teams === null ? "none" : teams.length === 0 ? "all" : "some",
    team_ids: teamIdsOf(token),
  };
  const form = useForm({
    initial,
    send: ({ scope, team_ids }, options) => {
      const body = scope === "all" ? {} : { team_ids: scope === "none" ? [] : [...team_ids] };
      return client.call(vppApi.teams, { params: { id: String(token.id) }, body }, options);
    },
    storedLists: async () => {
      const { vpp_tokens } = await client.call(vppApi.list);
      const stored = vpp_tokens.find(({ id }) => id === token.id);
      return stored === undefined ? {} : { team_ids: teamIdsOf(stored) };
    },
    onDone: async () => {
      notifyDone("The teams of the token are changed.");
      await outdate(vppApi.list);
      onClose();
    },
  });
  const { scope, team_ids } = form.values;
  const options = [{ id: 0, name: "No team" }, ...session.data.available_teams.filter(({ id }) => id > 0)];
  return (
    <Dialog title={`Teams of ${token.location}`} onClose={onClose}>
      <Form form={form} submit="Save" onCancel={onClose}>
        <SelectField form={form} name="scope" label="The token licenses apps of" options={scopes} />
        {scope === "some" && (
          <fieldset className="team-roles">
            <legend>Teams</legend>
            {options.map(({ id, name }) => (
              <label key={id} className="check">
                <input
                  type="checkbox"
                  checked={team_ids.includes(id)}
                  onChange={({ target }) =>
                    form.set("team_ids", target.checked ? [...team_ids, id] : team_ids.filter((other) => other !== id))
                  }
                />
                {name}
              </label>
            ))}
            {form.errorOf("team_ids") !== null && (
              <p className="wrong" role="alert">
                {form.errorOf("team_ids")}
              </p>
            )}
          </fieldset>
        )}
      </Form>
    </Dialog>
  );
}
