import { isAnyMdmOn } from "../../../devices/gate.ts";
import { inTeam, maySomewhere, visible } from "../../../platform/core/security/access.ts";
import { and, contains, eq, everything } from "../../../platform/store/query.ts";
import { byName, candidateRows, MAX_CANDIDATES, type SearchSource } from "../candidates.ts";

/** Labels belong to no team. */
export const labelSource: SearchSource = {
  type: "labels",
  async find(ctx, request) {
    if (!maySomewhere(ctx.user, "labels:list")) return [];
    const rows = await candidateRows(
      (selected) => ctx.store.labels.pick(["id", "name", "description", "label_type"], selected),
      request,
      { where: everything, columns: ["name"] },
    );
    return rows.map(({ id, name, description, label_type }) => ({
      id,
      name,
      detail: description === "" ? label_type : description,
      team_id: null,
      fields: [{ field: "name", text: name }],
    }));
  },
};

/** Scripts and profiles of a team are few, so that their names have no index for searches. */
export const scriptSource: SearchSource = {
  type: "scripts",
  async find(ctx, { query, team_id }) {
    if (!maySomewhere(ctx.user, "scripts:read")) return [];
    const rows = await ctx.store.scripts.pick(["id", "name", "team_id"], {
      where: and(visible(ctx, "scripts:read"), inTeam(team_id), contains("name", query)),
      order: byName,
      limit: MAX_CANDIDATES,
    });
    return rows.map((row) => ({ ...row, detail: "", fields: [{ field: "name", text: row.name }] }));
  },
};

export const profileSource: SearchSource = {
  type: "profiles",
  async find(ctx, { query, team_id }) {
    if (!maySomewhere(ctx.user, "profiles:read") || !(await isAnyMdmOn(ctx))) return [];
    const rows = await ctx.store.configurationProfiles.pick(["uuid", "name", "platform", "team_id"], {
      where: and(visible(ctx, "profiles:read"), inTeam(team_id), eq("is_own", false), contains("name", query)),
      order: byName,
      limit: MAX_CANDIDATES,
    });
    return rows.map(({ uuid, name, platform, team_id }) => ({
      id: uuid,
      name,
      detail: platform,
      team_id,
      fields: [{ field: "name", text: name }],
    }));
  },
};
