// Policies from configuration files, identified by team name and policy name.
import type { PolicySpec } from "../../../api/checks/policies.ts";
import { recordActivity } from "../../platform/activities/record.ts";
import { type Context, isPremium } from "../../platform/core/context.ts";
import { badRequest, notFound } from "../../platform/core/errors.ts";
import { nameKey } from "../../platform/core/name-key.ts";
import { and, eq } from "../../platform/store/query.ts";
import { knowsTeam } from "../../settings/teams/access.ts";
import { placeFor } from "./access.ts";
import { inPlace, type Place } from "./applies.ts";
import { patchColumns } from "./patch.ts";
import { checkAutomations, checkTier, type LabelsInput, labelsInput, wholeColumns } from "./rules.ts";
import { changingPolicies, insertPolicy, settleResults, updatePolicy } from "./service.ts";
import type { ChangedPolicy } from "./write.ts";

const NO_LABELS: LabelsInput = { names: [], rule: "include_any" };

/** Applies all specs in one transaction; all are validated first. */
export async function applySpecs(ctx: Context, inputs: readonly PolicySpec[]): Promise<Record<string, never>> {
  // On the free tier `critical` is ignored instead of refused.
  const specs = isPremium(ctx) ? inputs : inputs.map((spec) => ({ ...spec, critical: false }));
  const checked = specs.map((spec) => {
    checkTier(ctx, spec);
    return { spec, columns: wholeColumns(spec), labels: labelsInput(spec) ?? NO_LABELS };
  });
  const changes: ChangedPolicy[] = [];
  await changingPolicies(ctx, async (inside) => {
    changes.length = 0;
    const places = new Map<string, Place>();
    const names = new Set<string>();
    for (const { spec, columns } of checked) {
      const key = teamKey(spec.team);
      if (!places.has(key)) places.set(key, await placeNamed(inside, spec.team));
      const both = JSON.stringify([key, columns.name]);
      if (names.has(both)) throw badRequest(`duplicate policy names not allowed: ${columns.name}`, "name");
      names.add(both);
    }
    for (const { spec, columns, labels } of checked) {
      const place = places.get(teamKey(spec.team))!;
      await checkAutomations(inside, place, spec);
      const { policies } = inside.store;
      const typed = { ...spec, type: columns.type };
      const before = await policies.first({ where: and(inPlace(place), eq("name", columns.name)) });
      if (before) {
        // The platform of an existing policy is kept, unless it follows from an app.
        const { platform: _platform, ...set } = columns;
        const ofPatch = await patchColumns(inside, place, typed, before);
        changes.push(await updatePolicy(inside, before, { ...set, ...ofPatch }, labels));
      } else {
        const whole = { ...columns, ...(await patchColumns(inside, place, typed)) };
        await insertPolicy(inside, place, whole, labels);
      }
    }
    if (inputs.length > 0) await recordActivity(inside, "applied_spec_policy", { policies: inputs });
  });
  settleResults(ctx, changes);
  return {};
}

const teamKey = (team: string | null | undefined): string => nameKey((team ?? "").trim());
const NO_TEAM = nameKey("No team");

async function placeNamed(ctx: Context, name: string | null | undefined): Promise<Place> {
  const key = teamKey(name);
  if (key === "") return placeFor(ctx, "policies:write", null);
  if (key === NO_TEAM) return placeFor(ctx, "policies:write", 0);
  const team = await ctx.store.teams.first({ where: eq("name_key", key) });
  if (!team || !knowsTeam(ctx, team.id)) throw notFound("team", name!);
  return placeFor(ctx, "policies:write", team.id);
}
