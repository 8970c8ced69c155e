// Roles with which configuration is read and written as a whole. The role plan sees what the role gitops may write, and
// may try its changes out, but writes nothing.
import type { Role } from "../../../api/access.ts";
import type { Context } from "../../platform/core/context.ts";
import { maySomewhere } from "../../platform/core/security/access.ts";

const writing = <R extends Role | null>(role: R) => (role === "plan" ? "gitops" : role);

/** The context with the rights of gitops where the caller has the role plan. Only for reads, and for dry runs. */
export const asWriter = (ctx: Context): Context => withRoles(ctx, writing);

const ofSingleChanges = <R extends Role | null>(role: R) =>
  role === "maintainer" ? "admin" : role === "technician" ? "gitops" : role;

/**
 * The context for changes that the caller may make one by one, but not as files. Whoever uses it has checked each change
 * against the caller's own roles.
 */
export const asWriterOfSingleChanges = (ctx: Context): Context => withRoles(ctx, ofSingleChanges);

function withRoles(ctx: Context, roleFor: <R extends Role | null>(role: R) => R | Role): Context {
  const { user } = ctx;
  const teams = user.teams.map(({ id, role }) => ({ id, role: roleFor(role) }));
  return { ...ctx, user: { ...user, global_role: roleFor(user.global_role), teams } };
}

/** Whether the caller has a role that may write what it applies. */
export const mayApply = ({ user }: Context): boolean => maySomewhere(user, "configuration:apply");
