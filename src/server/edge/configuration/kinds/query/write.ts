import type { QuerySpec } from "../../../../../api/checks/queries.ts";
import { queryPlatforms } from "../../../../../api/checks/queries.ts";
import type { QueryLabels } from "../../../../checks/queries/rules.ts";
import { removeQueries } from "../../../../checks/queries/service.ts";
import { insertQueries, type NewQuery, type QueryChange, updateQueries } from "../../../../checks/queries/write.ts";
import { labelsAmong } from "../../../../hosts/labels/scope.ts";
import { recordActivity } from "../../../../platform/activities/record.ts";
import { channels } from "../../../../platform/core/channels.ts";
import { inTurns } from "../../../../platform/core/concurrency/parts.ts";
import { briefly } from "../../brief.ts";
import { locating, type Step } from "../../changes.ts";
import type { Part } from "../../kind.ts";
import { platformsOf } from "../../parse.ts";
import { keyOf } from "../../values.ts";
import { count, creating, differs, labelsByName, updating, type Work } from "../../work.ts";
import { type DesiredQuery, type QueryRows, queryValue } from "./value.ts";

export async function writeQueries(
  work: Work,
  { rows, steps, gone }: Part<QueryRows, DesiredQuery, unknown>,
): Promise<void> {
  if (steps.length + gone.length === 0) return;
  const { ctx } = work;
  const labels = await labelsByName(ctx);
  const teams = new Map(work.shared.teams.map(({ id, name }) => [id, name]));
  const shared = new Map(
    rows.queries.map((row) => {
      const owner = row.team_id === null ? null : teams.get(row.team_id)!;
      return [keyOf({ kind: "query", owner, name: row.name }), row];
    }),
  );
  const idsOf = (step: Step<DesiredQuery>) =>
    locating(step, (): QueryLabels => {
      const { names, all } = step.desired.labels;
      const field = all ? "labels_include_all" : "labels_include_any";
      return { ids: labelsAmong(labels, names, "query", field).map(({ id }) => id), all };
    });

  const fresh: NewQuery[] = [];
  for await (const step of inTurns(creating(steps))) {
    const team_id = step.owner === null ? null : work.teams.get(step.owner)!.id;
    fresh.push({ columns: { ...step.desired.columns, team_id }, labels: await idsOf(step) });
  }
  await insertQueries(ctx, fresh);

  const changed: Step<DesiredQuery>[] = [];
  const changes: QueryChange[] = [];
  for await (const step of inTurns(updating(steps))) {
    if (!differs(work, step, queryValue(step.desired.columns, step.desired.labels))) continue;
    changed.push(step);
    const before = shared.get(keyOf(step))!;
    const { platform, ...rest } = step.desired.columns;
    const samePlatforms = platformsOf(queryPlatforms, platform) === platformsOf(queryPlatforms, before.platform);
    // A different order of the same platforms is no change: the report is kept.
    changes.push({ before, set: samePlatforms ? rest : { platform, ...rest }, labels: await idsOf(step) });
  }
  await updateQueries(ctx, changes);

  // Queries of deleted teams are deleted together with the team.
  const leaving = gone.filter(({ owner }) => owner === null || !work.leaving.has(owner));
  if (leaving.length > 0)
    await removeQueries(
      ctx,
      leaving.map((change) => shared.get(keyOf(change))!),
    );
  const applied = [...creating(steps), ...changed];
  if (applied.length > 0) await recordActivity(ctx, "applied_spec_saved_query", pathOfType(applied));
  await ctx.store.notify(channels.queries, "");
  count(work, [...applied, ...gone]);
}

function pathOfType(steps: readonly Step<DesiredQuery>[]) {
  const { sample, count: all } = briefly(
    steps,
    ({ owner, name, desired }): QuerySpec => ({
      name,
      team: owner ?? "",
      ...queryValue(desired.columns, desired.labels),
    }),
    ({ owner, name }) => ({ name, team: owner ?? "" }),
  );
  return { specs: sample, ...(all > sample.length ? { count: all } : {}) };
}
