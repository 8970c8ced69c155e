import { plural } from "../../../../text/plural.ts";
import type { Context } from "../../../platform/core/context.ts";
import { byId, groupBy } from "../../../platform/core/maps.ts";
import { may, maySomewhere } from "../../../platform/core/security/access.ts";
import { and, exists, oneOf } from "../../../platform/store/query.ts";
import { type Scopes, scopesFor } from "../../../software/software/scopes.ts";
import { softwareTitles } from "../../../software/software/tables.ts";
import { vulnerabilityCounts } from "../../../software/software/vulnerabilities/tables.ts";
import { candidateRows, type SearchSource } from "../candidates.ts";

const onHosts = (rows: readonly { readonly hosts_count: number }[]): string =>
  `on ${plural(
    rows.reduce((sum, { hosts_count }) => sum + hosts_count, 0),
    "host",
  )}`;

/** Null: the caller may list no software there. */
async function scopesOf(ctx: Context, teamId: number | undefined): Promise<Scopes | null> {
  const isAllowed =
    teamId === undefined ? maySomewhere(ctx.user, "software:list") : may(ctx.user, "software:list", teamId || null);
  return isAllowed ? scopesFor(ctx, teamId) : null;
}

/** Titles on hosts of the scope, those on most hosts first. */
export const softwareSource: SearchSource = {
  type: "software",
  async find(ctx, request) {
    const { softwareTitleCounts, softwareTitles: titles } = ctx.store;
    const scopes = await scopesOf(ctx, request.team_id);
    if (scopes === null) return [];
    const titleCounts = await candidateRows(
      (selected) => softwareTitleCounts.pick(["id", "title_id", "name"], selected),
      request,
      {
        where: oneOf("scope", scopes),
        columns: ["name"],
        via: (condition) => exists(softwareTitles, "id", condition, "title_id"),
        order: [{ column: "hosts_count", direction: "desc" }],
      },
    );
    const ids = [...new Set(titleCounts.map(({ title_id }) => title_id))];
    const [counts, sources] = await Promise.all([
      countsOf(ctx, scopes, ids),
      titles.pick(["id", "source"], { where: oneOf("id", ids) }),
    ]);
    const sourceOf = byId(sources);
    const nameOf = new Map(titleCounts.map(({ title_id, name }) => [title_id, name]));
    return ids.map((id) => {
      const name = nameOf.get(id)!;
      return {
        id,
        name,
        detail: `${sourceOf.get(id)?.source ?? ""} ${onHosts(counts.get(id) ?? [])}`.trim(),
        team_id: null,
        fields: [{ field: "name", text: name }],
      };
    });
  },
};

const countsOf = async ({ store }: Context, scopes: Scopes, ids: readonly number[]) =>
  groupBy(
    await store.softwareTitleCounts.pick(["title_id", "hosts_count"], {
      where: and(oneOf("scope", scopes), oneOf("title_id", ids)),
    }),
    ({ title_id }) => title_id,
  );

/** Vulnerabilities of hosts in the scope. */
export const cveSource: SearchSource = {
  type: "cves",
  async find(ctx, request) {
    const { vulnerabilities, vulnerabilityCounts: counts } = ctx.store;
    const scopes = await scopesOf(ctx, request.team_id);
    if (scopes === null) return [];
    const rows = await candidateRows((selected) => vulnerabilities.pick(["id", "cve"], selected), request, {
      where: exists(vulnerabilityCounts, "vulnerability_id", oneOf("scope", scopes)),
      columns: ["cve"],
      order: [{ column: "created_at", direction: "desc" }],
    });
    const ids = rows.map(({ id }) => id);
    const hosts = groupBy(
      await counts.pick(["vulnerability_id", "hosts_count"], {
        where: and(oneOf("scope", scopes), oneOf("vulnerability_id", ids)),
      }),
      ({ vulnerability_id }) => vulnerability_id,
    );
    return rows.map(({ id, cve }) => ({
      id: cve,
      name: cve,
      detail: onHosts(hosts.get(id) ?? []),
      team_id: null,
      fields: [{ field: "cve", text: cve }],
    }));
  },
};
