import { type Invite, Invite as InviteSchema } from "../../../api/accounts/invites.ts";
import type { View } from "../../output/output.ts";
import { timeColumn } from "../../output/time-column.ts";

const isInvite = (row: unknown): row is Invite => typeof row === "object" && row !== null && "teams" in row;

export const inviteView = (relative: boolean, now: Date): View => ({
  schema: () => InviteSchema,
  columns: [
    { key: "id" },
    { key: "name" },
    { key: "email" },
    {
      key: "global_role",
      header: "role",
      text: (_, row) =>
        isInvite(row) ? (row.global_role ?? row.teams.map(({ name, role }) => `${role} (${name})`).join(", ")) : "",
    },
    timeColumn("created_at", "invited", relative, now),
  ],
});
