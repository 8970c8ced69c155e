import type { z } from "zod";
import { type Plan, type PlanItem, type PlanState, plansApi } from "../../../api/edge/plans.ts";
import { recordActivity } from "../../platform/activities/record.ts";
import { days, isoAt } from "../../platform/core/clock.ts";
import { type Context, within } from "../../platform/core/context.ts";
import { ApiError, changedMeanwhile, conflict, notFound } from "../../platform/core/errors.ts";
import { page } from "../../platform/core/http/paging.ts";
import { and, eq, everything, gt, lte, type Predicate } from "../../platform/store/query.ts";
import { recordOverride } from "../../settings/app-config/gitops-mode.ts";
import { applyConfiguration } from "../configuration/apply.ts";
import { asWriterOfSingleChanges } from "../configuration/planner.ts";
import { checkAutomations, checkRights, readablePlans, teamIdsOf } from "./access.ts";
import { overrideReasonOf } from "./gitops-mode.ts";
import { contentOf, type PlanContent, planFor } from "./rows.ts";
import type { StoredRequest } from "./stored.ts";
import type { PlanRow } from "./tables.ts";
import { planItem, planOnWire, stateOf } from "./view.ts";

type ListQuery = z.output<(typeof plansApi)["list"]["query"]>;

/** How long an applied plan can be read. The activity feed keeps a record beyond that. */
const KEPT_FOR = days(30);

export async function listPlans(ctx: Context, { state, ...paging }: ListQuery) {
  const where = and(readablePlans(ctx), state === undefined ? everything : inState(ctx, state));
  const { rows, meta } = await page(ctx.store.plans, paging, where, {
    defaultOrder: [{ column: "id", direction: "desc" }],
  });
  return { plans: rows.map((row): PlanItem => planItem(ctx, row)), meta };
}

function inState({ clock }: Context, state: PlanState): Predicate {
  if (state === "applied") return eq("state", "applied");
  return and(eq("state", "pending"), (state === "pending" ? gt : lte)("expires_at", clock.iso()));
}

export async function getPlan(ctx: Context, id: number): Promise<Plan> {
  const row = await planFor(ctx, id);
  const content = await contentOf(ctx, id);
  return planOnWire(ctx, row, content.changes, await mayApply(ctx, content));
}

/** Makes all changes in one transaction. A plan that was applied already is returned as it is. */
export async function applyPlan(ctx: Context, id: number): Promise<Plan> {
  const row = await planFor(ctx, id);
  if (row.state === "applied") return getPlan(ctx, id);
  if (stateOf(ctx, row) === "expired") throw conflict("the plan has expired: make it again");
  const content = await contentOf(ctx, id);
  const { request, pins } = content;
  await checkMayApply(ctx, content);
  const reason = await overrideReasonOf(ctx, content);
  try {
    await applyConfiguration(asWriterOfSingleChanges(ctx), { ...request, pins: [...pins] }, async (inside) => {
      await markApplied(inside, id);
      if (reason !== null) await recordOverride(inside, plansApi.apply, reason);
    });
  } catch (error) {
    if (!(error instanceof AppliedAlready)) throw explained(error);
  }
  return getPlan(ctx, id);
}

/** Thrown in the transaction to leave it without changes. */
class AppliedAlready extends Error {}

async function markApplied(inside: Context, id: number): Promise<void> {
  const { store, clock, user } = inside;
  const row = await store.plans.get(id);
  if (!row) throw notFound("plan", id);
  if (row.state === "applied") throw new AppliedAlready();
  await store.plans.update({
    where: eq("id", id),
    set: {
      state: "applied",
      applied_at: clock.iso(),
      expires_at: isoAt(clock.now() + KEPT_FOR),
      applier_id: user.id,
      applier_name: user.name,
      applier_email: user.email,
    },
  });
  const { request } = await contentOf(inside, id);
  await store.planContents.update({ where: eq("id", id), set: { request: JSON.stringify(withoutTexts(request)) } });
  await recordActivity(inside, "applied_plan", aboutPlan(row));
}

/** Secrets are not kept for longer than they are needed. */
const withoutTexts = ({ changes }: StoredRequest): StoredRequest => ({ changes });

/** The position of a pin says nothing to those who apply a plan by its id. */
function explained(error: unknown): unknown {
  if (!(error instanceof ApiError) || !error.hasChanged) return error;
  return changedMeanwhile(
    ...error.errors.map(({ name, reason }) => ({
      name: name.startsWith("pins") ? "base" : name,
      reason: reason.replace(/since it was read$/, "since the plan was made"),
    })),
  );
}

export async function deletePlan(ctx: Context, id: number): Promise<void> {
  await ctx.store.tx(async (store) => {
    const inside = within(ctx, store);
    const row = await planFor(inside, id);
    if (row.author_id !== ctx.user.id) {
      await checkMayApply(inside, await contentOf(inside, id));
      await recordActivity(inside, "deleted_plan", aboutPlan(row));
    }
    await store.plans.delete(eq("id", id));
  });
}

const aboutPlan = ({ id, name, author_name, creates, updates, deletes }: PlanRow) => ({
  plan_id: id,
  plan_name: name,
  created_by: author_name,
  changes: { create: creates, update: updates, delete: deletes },
});

async function checkMayApply(ctx: Context, { request, changes }: PlanContent): Promise<void> {
  const teamIds = await teamIdsOf(ctx, request.changes);
  await checkRights(ctx, request.changes, teamIds);
  checkAutomations(ctx, changes, teamIds);
}

async function mayApply(ctx: Context, content: PlanContent): Promise<boolean> {
  try {
    await checkMayApply(ctx, content);
    return true;
  } catch (error) {
    if (error instanceof ApiError) return false;
    throw error;
  }
}
