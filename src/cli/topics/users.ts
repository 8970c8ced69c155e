// Columns of users, and the flags of their fields.
import * as Flags from "@oclif/core/flags";
import { roles } from "../../api/access.ts";
import { type User, User as UserSchema } from "../../api/accounts/users.ts";
import type { ClientCommand } from "../client-command.ts";
import { usage } from "../errors.ts";
import { listOf } from "../flags.ts";
import type { View } from "../output/output.ts";

const isUser = (row: unknown): row is User => typeof row === "object" && row !== null && "teams" in row;

const rolesOf = ({ global_role, teams }: User): string =>
  global_role ?? teams.map(({ name, role }) => `${role} (${name})`).join(", ");

const signInOf = ({ api_only, sso_enabled, mfa_enabled }: User): string =>
  api_only ? "api only" : sso_enabled ? "sso" : mfa_enabled ? "password, mail" : "password";

export const userView: View = {
  schema: () => UserSchema,
  columns: [
    { key: "id" },
    { key: "name" },
    { key: "email" },
    { key: "global_role", header: "role", text: (_, row) => (isUser(row) ? rolesOf(row) : "") },
    {
      key: "api_only",
      header: "kind",
      text: (_, row) => (isUser(row) ? signInOf(row) : ""),
    },
    { key: "force_password_reset", header: "must reset", text: (value) => (value === true ? "yes" : "") },
  ],
};

export const userFlags = {
  name: Flags.string({ summary: "Name." }),
  email: Flags.string({ summary: "Email address, used to sign in." }),
  "global-role": Flags.option({ options: roles })({ summary: "Global role.", exclusive: ["teams"] }),
  teams: Flags.string({
    summary: "Role on a team; can be given several times.",
    multiple: true,
    helpValue: "TEAM:ROLE",
  }),
  position: Flags.string({ summary: "Position in the organization." }),
  "gravatar-url": Flags.string({ summary: "Picture.", helpValue: "URL" }),
  "sso-enabled": Flags.boolean({ summary: "The user signs in through the identity provider.", allowNo: true }),
  "mfa-enabled": Flags.boolean({ summary: "The user confirms each sign-in by email.", allowNo: true }),
};

/** The body fields from the flags. `TEAM:ROLE` identifies teams by name or id. */
export async function userFields(
  team: ClientCommand["findTeam"],
  flags: Readonly<Record<string, unknown>>,
): Promise<Record<string, unknown>> {
  const body: Record<string, unknown> = {};
  for (const flag of Object.keys(userFlags)) {
    if (flag !== "teams" && flags[flag] !== undefined) body[flag.replaceAll("-", "_")] = flags[flag];
  }
  const pairs = Array.isArray(flags.teams) ? listOf(flags.teams.map(String)) : [];
  if (pairs.length === 0) return body;
  const teams: { id: number; role: string }[] = [];
  for (const pair of pairs) {
    const at = pair.lastIndexOf(":");
    if (at <= 0) throw usage(`--teams: ${pair} is not TEAM:ROLE`, `Roles: ${roles.join(", ")}`);
    teams.push({ id: (await team(pair.slice(0, at))).id, role: pair.slice(at + 1) });
  }
  return { ...body, global_role: null, teams };
}
