// The role plan sees what the role gitops may write, and may try its changes out, but writes nothing.
import type { Role } from "../../../api/access.ts";
import type { Context } from "../../platform/core/context.ts";
import { maySomewhere } from "../../platform/core/security/access.ts";

const writing = <R extends Role | null>(role: R) => (role === "plan" ? "gitops" : role);

/** The context with the rights of gitops where the caller has the role plan. Only for reads, and for dry runs. */
export function asWriter(ctx: Context): Context {
  const { user } = ctx;
  const teams = user.teams.map(({ id, role }) => ({ id, role: writing(role) }));
  return { ...ctx, user: { ...user, global_role: writing(user.global_role), teams } };
}

/** Whether the caller has a role that may write what it applies. */
export const mayApply = ({ user }: Context): boolean => maySomewhere(user, "configuration:apply");
