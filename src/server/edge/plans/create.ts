// Makes a plan: tries the changes out, and computes what they change and on which hosts.
import { createHash } from "node:crypto";
import type { Pin } from "../../../api/edge/configuration.ts";
import { type CreatePlan, PLAN_CHANGES_MAX, PLAN_HOURS, PLANS_MAX, type Plan } from "../../../api/edge/plans.ts";
import { hours, isoAt } from "../../platform/core/clock.ts";
import { inTurns } from "../../platform/core/concurrency/parts.ts";
import { type Context, within } from "../../platform/core/context.ts";
import { conflict, forbiddenFor, invalid } from "../../platform/core/errors.ts";
import { dryRun } from "../../platform/core/http/dry-run.ts";
import { and, eq, gt } from "../../platform/store/query.ts";
import { applyConfiguration } from "../configuration/apply.ts";
import type { Kind } from "../configuration/kind.ts";
import { configurationKind } from "../configuration/kinds.ts";
import { asWriterOfSingleChanges } from "../configuration/planner.ts";
import { checkKinds } from "../configuration/request.ts";
import { readAllRows, thingsOf } from "../configuration/state.ts";
import { keyOf, revisionKey, type Thing } from "../configuration/values.ts";
import { checkAutomations, checkRights, scopesOf, teamIdsOf } from "./access.ts";
import { type Difference, differenceOf } from "./diff.ts";
import { effectsOf } from "./effects.ts";
import { pinsFor, resolveChanges, type Things } from "./resolve.ts";
import { contentOf, planFor } from "./rows.ts";
import type { StoredChange, StoredRequest } from "./stored.ts";
import type { PlanRow } from "./tables.ts";
import { planOnWire, stateOf } from "./view.ts";

export async function createPlan(ctx: Context, input: CreatePlan): Promise<Plan> {
  checkKinds({ changes: input.changes });
  const staged = input.extends === undefined ? null : await stagedPlan(ctx, input.extends);
  const outside = outsideOf(ctx);
  const prepared = await prepare(outside, input, staged);
  const changes = await tryOut(outside, prepared);
  const { request, pins, teamIds } = prepared;
  const digest = createHash("sha256").update(JSON.stringify(pins)).digest("hex").slice(0, 32);
  const name = input.name?.trim() ?? staged?.row.name ?? "";
  const row = await ctx.store.tx(
    async (store) => {
      const inside = within(ctx, store);
      if (staged) await removeStaged(inside, staged.row.id);
      await checkRoom(inside);
      const plan = await store.plans.insert({ ...headOf(inside, changes), name, digest });
      await store.planContents.insert({ id: plan.id, request: JSON.stringify(request), pins, changes });
      const scopes = scopesOf(request.changes, teamIds);
      await store.planScopes.insertMany(scopes.map((scope) => ({ plan_id: plan.id, ...scope })));
      return plan;
    },
    { lock: `plans of ${ctx.user.id}` },
  );
  return planOnWire(ctx, row, changes, true);
}

/** A trial within a dry run would be rolled back only with that: hosts could not be counted as they are now. */
const outsideOf = (ctx: Context): Context =>
  ctx.dryRun === null ? ctx : { ...ctx.dryRun.outside, dryRun: ctx.dryRun };

interface PreparedPlan {
  readonly kinds: ReadonlySet<Kind>;
  readonly before: Things;
  readonly request: StoredRequest;
  readonly pins: readonly Pin[];
  readonly teamIds: ReadonlyMap<string, number>;
}

type StagedPlan = Awaited<ReturnType<typeof stagedPlan>>;

/** Completes the values of the changes, and compares them with the caller's rights. */
async function prepare(ctx: Context, input: CreatePlan, staged: StagedPlan | null): Promise<PreparedPlan> {
  const writer = asWriterOfSingleChanges(ctx);
  const key = await revisionKey(ctx);
  const earlier = staged?.content.request;
  const kinds = new Set([...(earlier?.changes ?? []), ...input.changes].map(configurationKind));
  const before = await writer.store.tx((store) => readThings(within(writer, store), kinds), { snapshot: true });
  const changes = resolveChanges(input.changes, earlier?.changes ?? [], before);
  if (changes.length > PLAN_CHANGES_MAX)
    throw invalid("changes", `must not be more than ${PLAN_CHANGES_MAX} with those of the plan`);
  const request = {
    changes,
    secrets: { ...earlier?.secrets, ...input.secrets },
    files: { ...earlier?.files, ...input.files },
  };
  const teamIds = await teamIdsOf(ctx, changes);
  await checkRights(ctx, changes, teamIds);
  const pins = pinsFor(changes, { current: before, earlier: staged?.content.pins ?? [], key });
  return { kinds, before, request, pins, teamIds };
}

/** Applies the changes in a dry run, and counts hosts after it. */
async function tryOut(ctx: Context, { kinds, before, request, pins, teamIds }: PreparedPlan): Promise<StoredChange[]> {
  const writer = asWriterOfSingleChanges(ctx);
  const trial = await dryRun(writer, async (inside) => {
    await applyConfiguration(inside, { ...request, pins: [...pins], skip_checks: true });
    return readThings(inside, kinds);
  });
  const after = trial.value as Things;
  const differences = request.changes.flatMap((change) => differenceOf(change, before, after) ?? []);
  checkAutomations(ctx, differences, teamIds);
  const effects = await effectsOf(writer, differences, { before, after, teamIds });
  return differences.map((change, i): StoredChange => ({ ...change, effect: effects[i] ?? null }));
}

/** The plan that another one extends: only its author does that. */
async function stagedPlan(ctx: Context, id: number) {
  const row = await planFor(ctx, id);
  if (row.author_id !== ctx.user.id) throw forbiddenFor("only its author can extend a plan");
  if (stateOf(ctx, row) !== "pending") throw conflict(`the plan is ${stateOf(ctx, row)}: make a new one`);
  return { row, content: await contentOf(ctx, id) };
}

async function removeStaged({ store }: Context, id: number): Promise<void> {
  const removed = await store.plans.delete(and(eq("id", id), eq("state", "pending")));
  if (removed === 0) throw conflict("the plan was applied or deleted meanwhile");
}

/** Call this in a transaction, so that all objects are from the same moment. */
async function readThings(ctx: Context, kinds: Iterable<Kind>): Promise<Things> {
  const { shared, rows } = await readAllRows(ctx, kinds);
  const things = new Map<string, Thing>();
  for await (const thing of inTurns(thingsOf(shared, rows))) things.set(keyOf(thing), thing);
  return things;
}

async function checkRoom({ store, clock, user }: Context): Promise<void> {
  const open = and(eq("author_id", user.id), eq("state", "pending"), gt("expires_at", clock.iso()));
  if ((await store.plans.count(open)) >= PLANS_MAX)
    throw conflict(`you have ${PLANS_MAX} plans that are not applied: apply or delete one first`);
}

function headOf({ user, clock }: Context, changes: readonly Difference[]) {
  const count = (action: Difference["action"]) => changes.filter((change) => change.action === action).length;
  return {
    created_at: clock.iso(),
    expires_at: isoAt(clock.now() + hours(PLAN_HOURS)),
    author_id: user.id,
    author_name: user.name,
    author_email: user.email,
    creates: count("create"),
    updates: count("update"),
    deletes: count("delete"),
  } satisfies Partial<PlanRow>;
}
