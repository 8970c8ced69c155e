import { visibleUsers, withRoleIn } from "../../../accounts/users/service.ts";
import { maySomewhere, visible } from "../../../platform/core/security/access.ts";
import { and, eq, everything, nothing, type Predicate } from "../../../platform/store/query.ts";
import { byName, candidateRows, type SearchSource } from "../candidates.ts";

export const userSource: SearchSource = {
  type: "users",
  async find(ctx, request) {
    if (!maySomewhere(ctx.user, "users:list")) return [];
    const rows = await candidateRows((selected) => ctx.store.users.pick(["id", "name", "email"], selected), request, {
      where: and(visibleUsers(ctx.user), withRoleIn(request.team_id)),
      columns: ["name", "email"],
      order: byName,
    });
    return rows.map(({ id, name, email }) => ({
      id,
      name,
      detail: email,
      team_id: null,
      fields: [
        { field: "name", text: name },
        { field: "email", text: email },
      ],
    }));
  },
};

export const teamSource: SearchSource = {
  type: "teams",
  async find(ctx, request) {
    if (!maySomewhere(ctx.user, "teams:list")) return [];
    const rows = await candidateRows(
      (selected) => ctx.store.teams.pick(["id", "name", "description"], selected),
      request,
      { where: and(visible(ctx, "teams:list", "id"), only(request.team_id)), columns: ["name"] },
    );
    return rows.map(({ id, name, description }) => ({
      id,
      name,
      detail: description,
      team_id: id,
      fields: [{ field: "name", text: name }],
    }));
  },
};

const only = (teamId: number | undefined): Predicate =>
  teamId === undefined ? everything : teamId === 0 ? nothing : eq("id", teamId);
