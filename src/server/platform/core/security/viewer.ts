import { eq } from "../../store/query.ts";
import type { RowOf } from "../../store/table.ts";
import type { Viewer } from "../context.ts";
import type { ServerTx, Tables } from "../tables.ts";

export type UserRow = RowOf<Tables["users"]>;

/** The user as the authenticated caller, with the session or token. */
export async function viewerOf(
  store: ServerTx,
  user: UserRow,
  session: RowOf<Tables["sessions"]> | null,
): Promise<Viewer> {
  // Only users without a global role have team roles.
  const memberships =
    user.global_role === null ? await store.userTeams.pick(["team_id", "role"], { where: eq("user_id", user.id) }) : [];
  return {
    kind: "user",
    id: user.id,
    name: user.name,
    email: user.email,
    gravatar_url: user.gravatar_url,
    api_only: user.api_only,
    force_password_reset: user.force_password_reset,
    session_id: session?.id ?? 0,
    token_name: session?.kind === "token" ? session.name : "",
    token_endpoints: session?.endpoints ?? null,
    global_role: user.global_role,
    teams: memberships.map(({ team_id, role }) => ({ id: team_id, role })),
  };
}

/** The fields with which activities name a user. */
export const aboutUser = ({ id, name, email }: Pick<UserRow, "id" | "name" | "email">) => ({
  user_id: id,
  user_name: name,
  user_email: email,
});
