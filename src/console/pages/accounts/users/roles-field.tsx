import type { ReactElement } from "react";
import { SelectField } from "../../../parts/form/form.tsx";
import type { Form } from "../../../parts/form/use-form.ts";
import { may } from "../../../session.ts";
import { manageableTeams, possibleRoles, type RoleValues, roleName } from "./roles.ts";

interface RolesFieldProps<V extends RoleValues & Readonly<Record<string, unknown>>> {
  readonly form: Form<V>;
  /** Whether the account is of a program. */
  readonly isProgram?: boolean;
}

const ON_TEAMS = { value: "", label: "Roles on teams" };

/** A role for everything, or one for each of some teams. */
export function RolesField<V extends RoleValues & Readonly<Record<string, unknown>>>(
  props: RolesFieldProps<V>,
): ReactElement {
  const { form, isProgram = false } = props;
  const roles = possibleRoles(isProgram).map((role) => ({ value: role, label: roleName(role) }));
  const teams = manageableTeams();
  const global = may("users:write", null) ? roles : [];
  const error = form.errorOf("teams");
  return (
    <>
      <SelectField
        form={form}
        name="global_role"
        label="Role"
        options={
          teams.length > 0 || global.length === 0 || form.values.global_role === "" ? [...global, ON_TEAMS] : global
        }
      />
      {form.values.global_role === "" && (
        <fieldset className="team-roles">
          <legend>Roles on teams</legend>
          {teams.map(({ id, name }) => (
            <TeamRoleField key={id} form={form} id={id} name={name} roles={roles} />
          ))}
          {error !== null && (
            <p className="wrong" role="alert">
              {error}
            </p>
          )}
        </fieldset>
      )}
    </>
  );
}

interface TeamRoleFieldProps<V extends RoleValues & Readonly<Record<string, unknown>>> {
  readonly form: Form<V>;
  readonly id: number;
  readonly name: string;
  readonly roles: readonly { readonly value: string; readonly label: string }[];
}

function TeamRoleField<V extends RoleValues & Readonly<Record<string, unknown>>>(
  props: TeamRoleFieldProps<V>,
): ReactElement {
  const { form, id, name, roles } = props;
  const { teams } = form.values;
  return (
    <label className="team-role">
      <span>{name}</span>
      <select
        value={teams.find((team) => team.id === id)?.role ?? ""}
        onChange={({ target }) => {
          const others = teams.filter((team) => team.id !== id);
          form.set("teams", (target.value === "" ? others : [...others, { id, role: target.value }]) as V["teams"]);
        }}
      >
        <option value="">No role</option>
        {roles.map(({ value, label }) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
    </label>
  );
}
