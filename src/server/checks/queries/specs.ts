// Queries from configuration files, identified by team name and query name.

import { type QuerySpec, type QuerySpecInput, queryFields } from "../../../api/checks/queries.ts";
import { fieldNames, pick } from "../../../api/plain-fields.ts";
import { recordActivity } from "../../platform/activities/record.ts";
import { type Context, isPremium } from "../../platform/core/context.ts";
import { notFound, premiumOption } from "../../platform/core/errors.ts";
import { nameKey } from "../../platform/core/name-key.ts";
import { authorize } from "../../platform/core/security/access.ts";
import { and, eq } from "../../platform/store/query.ts";
import { teamNames } from "../../settings/teams/reads.ts";
import { mayRead, type QueryRow } from "./access.ts";
import { queryName, wholeFields } from "./rules.ts";
import { changingQueries, insertQuery, queriesOf, scopeOf, updateQuery } from "./service.ts";
import { labelsOfQueries } from "./wire.ts";
import { NO_LABELS } from "./write.ts";

const plainNames = fieldNames(queryFields);

/** Applies all specs in one transaction; all are validated first. */
export async function applyQuerySpecs(ctx: Context, specs: readonly QuerySpecInput[]): Promise<void> {
  const checked = specs.map((spec) => ({ spec, columns: wholeFields(spec) }));
  await changingQueries(ctx, async (inside) => {
    const applied: QueryRow[] = [];
    for (const { spec, columns } of checked) {
      const teamId = await teamNamed(inside, spec.team);
      authorize(inside, "queries:write", teamId);
      const labels = (await scopeOf(inside, spec)) ?? NO_LABELS;
      const before = await inside.store.queries.first({ where: and(eq("team_id", teamId), eq("name", columns.name)) });
      applied.push(
        before
          ? await updateQuery(inside, before, columns, labels)
          : await insertQuery(inside, { ...columns, team_id: teamId }, labels),
      );
    }
    if (applied.length > 0)
      await recordActivity(inside, "applied_spec_saved_query", { specs: await specsOf(inside, applied) });
  });
}

async function teamNamed(ctx: Context, name: string | null | undefined): Promise<number | null> {
  if (name === undefined || name === null || name.trim() === "") return null;
  if (!isPremium(ctx)) throw premiumOption("team");
  const team = await ctx.store.teams.first({ where: eq("name_key", nameKey(name.trim())) });
  // Do not disclose to team users that another team exists.
  if (!team || !mayRead(ctx.user, team.id)) throw notFound("team", name);
  return team.id;
}

export async function listQuerySpecs(ctx: Context, teamId: number | undefined): Promise<QuerySpec[]> {
  return specsOf(ctx, await queriesOf(ctx, teamId));
}

export async function getQuerySpec(ctx: Context, name: string, teamId: number | undefined): Promise<QuerySpec> {
  const [row] = await queriesOf(ctx, teamId, eq("name", queryName(name)));
  if (!row) throw notFound("query", name);
  return (await specsOf(ctx, [row]))[0]!;
}

async function specsOf({ store }: Pick<Context, "store">, rows: readonly QueryRow[]): Promise<QuerySpec[]> {
  const teams = await teamNames(
    store,
    rows.flatMap(({ team_id }) => team_id ?? []),
  );
  const labels = await labelsOfQueries(
    store,
    rows.map(({ id }) => id),
  );
  return rows.map((row) => ({
    name: row.name,
    query: row.query,
    team: row.team_id === null ? "" : (teams.get(row.team_id) ?? ""),
    ...pick(row, plainNames),
    platform: row.platform,
    min_qengine_version: row.min_qengine_version,
    logging: row.logging,
    labels_include_any: (labels.get(row.id)?.any ?? []).map(({ name }) => name),
    ...(labels.get(row.id)?.all.length ? { labels_include_all: labels.get(row.id)!.all.map(({ name }) => name) } : {}),
  }));
}
