// Creating, changing and deleting policies.
import type { Policy, PolicyChanges, PolicyCreated } from "../../api/policies.ts";
import { recordActivities, recordActivity } from "../activities/record.ts";
import { may } from "../core/access.ts";
import { channels } from "../core/channels.ts";
import { type Context, within } from "../core/context.ts";
import { alreadyExists, badRequest, forbidden, notFound } from "../core/errors.ts";
import { inBackground } from "../jobs/background.ts";
import { resolveLabelNames, scopePredicate } from "../labels/scope.ts";
import { eq, lt, not, oneOf } from "../store/query.ts";
import { UniqueViolation } from "../store/store.ts";
import type { ServerTx } from "../tables.ts";
import { knows, placeFor, sameTeam } from "./access.ts";
import { labelScopes, type Place, type PolicyRow, teamIdOf } from "./applies.ts";
import { forgetInConfig } from "./automations.ts";
import { POLICIES_LOCK } from "./counts.ts";
import { removeResults } from "./results.ts";
import {
  type Columns,
  checkAutomations,
  checkTier,
  columnsOf,
  givenLabels,
  outdatesResults,
  refused,
  wholeColumns,
} from "./rules.ts";
import { policyOnWire } from "./wire.ts";

type Labels = NonNullable<ReturnType<typeof givenLabels>>;

/** All changes of policies come one after the other; caches hear of them with the commit. */
export const changingPolicies = <R>(ctx: Context, work: (inside: Context) => Promise<R>): Promise<R> =>
  ctx.store.tx(
    async (store) => {
      const result = await work(within(ctx, store));
      await store.notify(channels.policies, "");
      return result;
    },
    { lock: POLICIES_LOCK },
  );

export async function createPolicy(
  ctx: Context,
  teamId: number | null,
  given: PolicyCreated,
): Promise<{ policy: Policy }> {
  const place = await placeFor(ctx, "policies:write", teamId);
  checkTier(ctx, given);
  const columns = wholeColumns(await withSavedQuery(ctx, given));
  const labels = givenLabels(given);
  await checkAutomations(ctx, place, given);
  return changingPolicies(ctx, async (inside) => {
    const row = await insertPolicy(inside, place, columns, labels);
    await recordActivity(inside, "created_policy", await detailsOf(inside, row));
    return { policy: await policyOnWire(inside, row) };
  });
}

/** Name, query and description of the saved query that a payload names. */
async function withSavedQuery(ctx: Context, given: PolicyCreated): Promise<PolicyChanges> {
  if (given.query_id === undefined) return given;
  if (given.query !== undefined && given.query !== "")
    throw refused("both policy query and query_id cannot be given", "query_id");
  const query = await ctx.store.queries.get(given.query_id);
  if (!query || !(query.team_id === null || may(ctx.user, "queries:list", query.team_id)))
    throw notFound("query", given.query_id);
  return { ...given, name: query.name, query: query.query, description: query.description };
}

export async function insertPolicy(
  ctx: Context,
  place: Place,
  columns: Columns,
  labels: Labels | undefined,
): Promise<PolicyRow> {
  const now = ctx.clock.iso();
  const row = await unlessTaken(
    columns.name,
    ctx.store.policies.insert({
      ...columns,
      ...place,
      created_at: now,
      updated_at: now,
      author_id: ctx.user.kind === "user" ? ctx.user.id : null,
      result_id: await nextResultId(ctx.store, now),
    }),
  );
  if (labels) await setLabels(ctx, row.id, labels);
  return row;
}

export async function modifyPolicy(
  ctx: Context,
  teamId: number | null,
  id: number,
  given: PolicyChanges,
): Promise<{ policy: Policy }> {
  const place = await placeFor(ctx, "policies:write", teamId);
  checkTier(ctx, given);
  const set = columnsOf(given);
  const labels = givenLabels(given);
  const changed = await changingPolicies(ctx, async (inside) => {
    const before = await inside.store.policies.get(id);
    if (!before || !knows(inside, before)) throw notFound("policy", id);
    if (!sameTeam(before, place)) throw badRequest("policy does not belong to team/global");
    await checkAutomations(inside, place, given);
    const change = await updatePolicy(inside, before, set, labels);
    await recordActivity(inside, "edited_policy", await detailsOf(inside, change.row));
    return { ...change, policy: await policyOnWire(inside, change.row) };
  });
  settleResults(ctx, [changed]);
  return { policy: changed.policy };
}

export interface Changed {
  readonly row: PolicyRow;
  /** The results that say nothing any more. */
  readonly outdated: number | null;
  /** Other hosts are meant than before. */
  readonly narrowed: boolean;
}

export async function updatePolicy(
  ctx: Context,
  before: PolicyRow,
  set: Partial<Columns>,
  labels: Labels | undefined,
): Promise<Changed> {
  const { store } = ctx;
  const now = ctx.clock.iso();
  const outdated = outdatesResults(before, set);
  const anew = outdated
    ? {
        result_id: await nextResultId(store, now),
        passing_host_count: 0,
        failing_host_count: 0,
        host_count_updated_at: null,
      }
    : {};
  const change = { where: eq("id", before.id), set: { ...set, ...anew, updated_at: now } };
  await unlessTaken(set.name ?? before.name, store.policies.update(change));
  if (outdated) await store.policyEvents.delete(eq("policy_id", before.id));
  if (labels) await setLabels(ctx, before.id, labels);
  return {
    row: (await store.policies.get(before.id))!,
    outdated: outdated ? before.result_id : null,
    narrowed: labels !== undefined && labels.names.length > 0,
  };
}

/** After the change: what hosts' rows still hold of it goes, without anybody waiting for it. */
export function settleResults(ctx: Context, changes: readonly Changed[]): void {
  const outdated = changes.flatMap((change) => change.outdated ?? []);
  dropResults(ctx, outdated);
  for (const { row, narrowed } of changes)
    if (narrowed)
      inBackground(ctx, "results of hosts outside a policy's labels", async (signal) => {
        const scope = (await labelScopes(ctx.store, [row.id])).get(row.id);
        if (scope) await removeResults(ctx.store, [row.result_id], signal, not(scopePredicate(scope)));
      });
}

export function dropResults(ctx: Context, resultIds: readonly number[]): void {
  if (resultIds.length > 0)
    inBackground(ctx, "results of policies that are gone", (signal) => removeResults(ctx.store, resultIds, signal));
}

export async function deletePolicies(
  ctx: Context,
  teamId: number | null,
  given: readonly number[],
): Promise<{ deleted?: number[] }> {
  const place = await placeFor(ctx, "policies:write", teamId);
  const ids = [...new Set(given)];
  if (ids.length === 0) return {};
  const gone = await changingPolicies(ctx, async (inside) => {
    const rows = await inside.store.policies.getMany(ids);
    const known = new Map(rows.map((row) => [row.id, row]));
    for (const id of ids) {
      const row = known.get(id);
      if (!row || !knows(inside, row)) throw notFound("policy", id);
      if (!sameTeam(row, place)) throw forbidden();
    }
    const team = await teamNameOf(inside, place);
    await inside.store.policies.delete(oneOf("id", ids));
    await recordActivities(
      inside,
      "deleted_policy",
      ids.map((id) => details(known.get(id)!, team)),
    );
    return rows;
  });
  if (place.scope === "global") await forgetInConfig(ctx, ids);
  dropResults(
    ctx,
    gone.map(({ result_id }) => result_id),
  );
  return { deleted: ids };
}

/** For the transaction that deletes a team, before it does: the results of the policies that go with it, for `dropResults`. */
export async function policiesLeavingWithTeam(store: ServerTx, teamId: number): Promise<number[]> {
  const rows = await store.policies.pick(["result_id"], { where: eq("team_id", teamId) });
  if (rows.length > 0) await store.notify(channels.policies, "");
  return rows.map(({ result_id }) => result_id);
}

async function setLabels(ctx: Context, policyId: number, { names, excludes }: Labels): Promise<void> {
  const field = excludes ? "labels_exclude_any" : "labels_include_any";
  const labels = await resolveLabelNames(ctx, names, "policy", field);
  await ctx.store.policyLabels.delete(eq("policy_id", policyId));
  await ctx.store.policyLabels.insertMany(labels.map(({ id }) => ({ policy_id: policyId, label_id: id, excludes })));
}

async function nextResultId(store: ServerTx, now: string): Promise<number> {
  const { id } = await store.policyResultIds.insert({ created_at: now });
  await store.policyResultIds.delete(lt("id", id));
  return id;
}

async function unlessTaken<R>(name: string, write: Promise<R>): Promise<R> {
  try {
    return await write;
  } catch (error) {
    if (error instanceof UniqueViolation) throw alreadyExists(`a policy with the name ${JSON.stringify(name)} exists`);
    throw error;
  }
}

async function teamNameOf({ store }: Context, { team_id }: Place): Promise<string | null> {
  return team_id === null ? null : ((await store.teams.get(team_id))?.name ?? null);
}

const details = (row: PolicyRow, team: string | null) => ({
  policy_id: row.id,
  policy_name: row.name,
  team_id: teamIdOf(row) ?? -1,
  ...(team === null ? {} : { team_name: team }),
});
const detailsOf = async (ctx: Context, row: PolicyRow) => details(row, await teamNameOf(ctx, row));
