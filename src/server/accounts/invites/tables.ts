import type { Role } from "../../../api/access.ts";
import { bool, id, ref, table, text, time } from "../../platform/store/table.ts";

declare module "../../platform/core/tables.ts" {
  interface Tables {
    readonly invites: typeof invites;
    readonly inviteTeams: typeof inviteTeams;
  }
}

export const invites = table("invites", {
  id: id(),
  created_at: time(),
  updated_at: time(),
  invited_by: ref("users").nullable(),
  name: text().search(),
  /** Lower case. */
  email: text().unique().search(),
  position: text().default(""),
  sso_enabled: bool().default(false),
  mfa_enabled: bool().default(false),
  global_role: text<Role>().nullable(),
  /** SHA-256 of the token in the link, hex. */
  token_hash: text().unique(),
});

export const inviteTeams = table(
  "invite_teams",
  { id: id(), invite_id: ref("invites"), team_id: ref("teams"), role: text<Role>() },
  { unique: [["invite_id", "team_id"]] },
);
