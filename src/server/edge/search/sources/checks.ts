import { readsGlobal } from "../../../checks/policies/access.ts";
import { inPlace, placeOf } from "../../../checks/policies/applies.ts";
import { readable } from "../../../checks/queries/access.ts";
import type { Context } from "../../../platform/core/context.ts";
import { maySomewhere, visible } from "../../../platform/core/security/access.ts";
import { and, everything, isNull, nothing, oneOf, or, type Predicate } from "../../../platform/store/query.ts";
import { candidateRows, type SearchSource } from "../candidates.ts";

const shown = ["id", "name", "description", "team_id"] as const;

interface NamedRow {
  readonly id: number;
  readonly name: string;
  readonly description: string;
  readonly team_id: number | null;
}

const named = ({ id, name, description, team_id }: NamedRow) => ({
  id,
  name,
  detail: description,
  team_id,
  fields: [{ field: "name", text: name }],
});

/** Policies that hosts of the team get: its own, and the global ones. */
export const policySource: SearchSource = {
  type: "policies",
  async find(ctx, request) {
    if (!maySomewhere(ctx.user, "policies:list")) return [];
    const where = and(visiblePolicies(ctx), policiesOf(request.team_id));
    return (
      await candidateRows((selected) => ctx.store.policies.pick(shown, selected), request, { where, columns: ["name"] })
    ).map(named);
  },
};

const globalPolicies = inPlace(placeOf(null));

function visiblePolicies(ctx: Context): Predicate {
  const ofTeams = visible(ctx, "policies:list");
  if (ofTeams.op === "all") return everything;
  return readsGlobal(ctx) ? or(globalPolicies, ofTeams) : ofTeams;
}

const policiesOf = (teamId: number | undefined): Predicate =>
  teamId === undefined ? everything : or(globalPolicies, inPlace(placeOf(teamId)));

export const querySource: SearchSource = {
  type: "queries",
  async find(ctx, request) {
    if (!maySomewhere(ctx.user, "queries:list")) return [];
    const where = and(readable(ctx), queriesOf(request.team_id));
    return (
      await candidateRows((selected) => ctx.store.queries.pick(shown, selected), request, { where, columns: ["name"] })
    ).map(named);
  },
};

const queriesOf = (teamId: number | undefined): Predicate =>
  teamId === undefined ? everything : or(isNull("team_id"), teamId === 0 ? nothing : oneOf("team_id", [teamId]));
