// The roles that a form offers, and how they are shown.

import { apiOnlyRoles, premiumRoles, type Role, roles } from "../../../../api/access.ts";
import { isPremium, may, session } from "../../../session.ts";

type TeamRoles = readonly { readonly id: number; readonly role: string }[];

export interface RoleValues {
  /** Empty: the user has roles on teams. */
  readonly global_role: string;
  readonly teams: TeamRoles;
}

const names: Readonly<Record<Role, string>> = {
  admin: "Admin",
  maintainer: "Maintainer",
  observer: "Observer",
  observer_plus: "Observer+",
  gitops: "GitOps",
  technician: "Technician",
  plan: "Plan",
};

export const roleName = (role: string): string => (names as Readonly<Record<string, string>>)[role] ?? role;

interface Account {
  readonly global_role: Role | null;
  readonly teams: readonly { readonly name: string; readonly role: Role }[];
}

/** "Admin", "Observer of Sales, Admin of Engineering". */
export const rolesText = ({ global_role, teams }: Account): string =>
  global_role === null
    ? teams.map(({ name, role }) => `${roleName(role)} of ${name}`).join(", ")
    : roleName(global_role);

/** The roles that can be given; some are for programs only. */
export const possibleRoles = (isProgram: boolean): readonly Role[] =>
  roles.filter((role) => (isProgram || !apiOnlyRoles.includes(role)) && (isPremium() || !premiumRoles.includes(role)));

/** The teams on which the user may give roles. */
export const manageableTeams = (): readonly { readonly id: number; readonly name: string }[] =>
  isPremium() ? session.data.available_teams.filter(({ id }) => id > 0 && may("users:write", id)) : [];

/** A new account starts with the role that may do least. */
export const initialRoles = (): RoleValues => ({
  global_role: may("users:write", null) ? "observer" : "",
  teams: [],
});

/** The part of a body that sets the roles: a global one, or those on teams. */
export const rolesBody = ({
  global_role,
  teams,
}: RoleValues): { global_role: string | null; teams: { id: number; role: string }[] } =>
  global_role === "" ? { global_role: null, teams: [...teams] } : { global_role, teams: [] };

interface WithTeams {
  readonly teams: readonly { readonly id: number }[];
}

/** Whether the user may change that account: it manages users globally, or on a team of the account. */
export const mayChangeUser = ({ teams }: WithTeams): boolean =>
  [null, ...teams.map(({ id }) => id)].some((team) => may("users:write", team));
