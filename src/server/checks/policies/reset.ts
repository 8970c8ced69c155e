import { recordActivity } from "../../platform/activities/record.ts";
import type { Context } from "../../platform/core/context.ts";
import { notFound, premiumOption } from "../../platform/core/errors.ts";
import { needPremium } from "../../platform/core/http/tier.ts";
import { byId } from "../../platform/core/maps.ts";
import { authorize } from "../../platform/core/security/access.ts";
import { eq, or } from "../../platform/store/query.ts";
import { knows, placeFor, policyFor } from "./access.ts";
import { inPlace } from "./applies.ts";
import { acts, automatedPolicies, resetActions, resetPolicy } from "./automations.ts";
import { changingPolicies, detailsOf, settleResults } from "./service.ts";
import { updatePolicies } from "./write.ts";

/** Queues the automations of these policies for all hosts that currently fail them. */
export async function resetAutomations(
  ctx: Context,
  input: { policy_ids?: number[] | null | undefined; team_ids?: number[] | null | undefined },
): Promise<Record<string, never>> {
  const policyIds = [...new Set(input.policy_ids ?? [])];
  const teamIds = [...new Set(input.team_ids ?? [])];
  if (teamIds.length > 0) needPremium(ctx, () => premiumOption("team_ids"));
  const { store } = ctx;
  const rows = byId(await store.policies.getMany(policyIds));
  for (const id of policyIds) {
    const row = rows.get(id);
    if (!row || !knows(ctx, row)) throw notFound("policy", id);
    authorize(ctx, "policies:automations", row.team_id);
  }
  const places = [];
  for (const id of teamIds) places.push(await placeFor(ctx, "policies:automations", id));
  if (places.length > 0)
    for (const row of await store.policies.list({ where: or(...places.map(inPlace)) })) rows.set(row.id, row);

  const automated = await automatedPolicies(ctx);
  for (const row of rows.values()) {
    if (automated.has(row.id)) await resetPolicy(store, row, ctx.clock.iso());
    if (acts(row)) await resetActions(store, row, ctx.clock.iso());
  }
  return {};
}

/** Deletes the results of the policy. Hosts answer it again with their next poll, and are newly failing if they fail. */
export async function resetResults(ctx: Context, id: number): Promise<Record<string, never>> {
  const changed = await changingPolicies(ctx, async (inside) => {
    const before = await policyFor(inside, id);
    authorize(inside, "policies:write", before.team_id);
    await inside.store.policyInstalls.delete(eq("policy_id", id));
    const rows = await updatePolicies(inside, [{ before, set: {}, labels: undefined, isReset: true }]);
    await recordActivity(inside, "reset_policy", await detailsOf(inside, before));
    return rows;
  });
  settleResults(ctx, changed);
  return {};
}
