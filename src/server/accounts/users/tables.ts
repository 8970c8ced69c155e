import type { Role } from "../../../api/access.ts";
import type { UserSettings } from "../../../api/accounts/user-settings.ts";
import { bool, id, json, ref, table, text, time } from "../../platform/store/table.ts";

declare module "../../platform/core/tables.ts" {
  interface Tables {
    readonly users: typeof users;
    readonly userTeams: typeof userTeams;
  }
}

export const users = table("users", {
  id: id(),
  created_at: time(),
  updated_at: time(),
  name: text().search(),
  /** Lower case. */
  email: text().unique().search(),
  /** Argon2id in PHC format. Null for users of single sign-on. */
  password_hash: text().nullable(),
  force_password_reset: bool().default(false),
  gravatar_url: text().default(""),
  position: text().default(""),
  sso_enabled: bool().default(false),
  mfa_enabled: bool().default(false),
  api_only: bool().default(false),
  global_role: text<Role>().nullable().index(),
  settings: json<UserSettings>().nullable(),
});

export const userTeams = table(
  "user_teams",
  { id: id(), user_id: ref("users"), team_id: ref("teams"), role: text<Role>() },
  { unique: [["user_id", "team_id"]] },
);
