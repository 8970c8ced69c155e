import { type SearchQuery, type SearchResult, searchTypes } from "../../../api/edge/search.ts";
import type { Context } from "../../platform/core/context.ts";
import { forbidden, notFound } from "../../platform/core/errors.ts";
import { byId } from "../../platform/core/maps.ts";
import { oneOf } from "../../platform/store/query.ts";
import { knowsTeam } from "../../settings/teams/access.ts";
import type { Candidate, SearchSource } from "./candidates.ts";
import { bestMatch, EQUAL, type Match } from "./rank.ts";
import { policySource, querySource } from "./sources/checks.ts";
import { labelSource, profileSource, scriptSource } from "./sources/files.ts";
import { hostSource } from "./sources/hosts.ts";
import { teamSource, userSource } from "./sources/people.ts";
import { cveSource, softwareSource } from "./sources/software.ts";

const sources: readonly SearchSource[] = [
  hostSource,
  userSource,
  policySource,
  softwareSource,
  labelSource,
  cveSource,
  querySource,
  scriptSource,
  profileSource,
  teamSource,
];

interface RankedCandidate {
  readonly candidate: Candidate;
  readonly match: Match;
}

const MAX_DETAIL = 200;

export async function searchAll(ctx: Context, query: SearchQuery): Promise<{ results: SearchResult[] }> {
  await checkTeam(ctx, query.team_id);
  const types = new Set(query.types ?? searchTypes);
  const groups = await Promise.all(
    sources
      .filter(({ type }) => types.has(type))
      .map(async ({ type, find }) => ({ type, best: bestOf(await find(ctx, query), query) })),
  );
  const equalFirst = groups.toSorted((a, b) => Number(hasEqual(b.best)) - Number(hasEqual(a.best)));
  const nameOf = await teamNames(
    ctx,
    groups.flatMap(({ best }) => best.map(({ candidate }) => candidate.team_id)),
  );
  return {
    results: equalFirst.flatMap(({ type, best }) =>
      best.map(({ candidate: { id, name, detail, team_id }, match: { field, text } }) => ({
        type,
        id,
        name,
        detail: detail.slice(0, MAX_DETAIL),
        team_id,
        team_name: team_id === null ? null : (nameOf(team_id) ?? null),
        match: { field, text },
      })),
    ),
  };
}

/** A team that the caller may not see is answered like a missing one. */
async function checkTeam(ctx: Context, teamId: number | undefined): Promise<void> {
  if (teamId === undefined) return;
  if (teamId === 0) {
    if (ctx.user.kind === "user" && ctx.user.global_role === null) throw forbidden();
    return;
  }
  if (!knowsTeam(ctx, teamId) || !(await ctx.store.teams.get(teamId))) throw notFound("team", teamId, "team_id");
}

/** Results of equal rank stay in the order of their source: hosts by name, software by its number of hosts. */
function bestOf(candidates: readonly Candidate[], { query, per_type }: SearchQuery): RankedCandidate[] {
  return candidates
    .flatMap((candidate) => {
      const match = bestMatch(candidate.fields, query);
      return match === null ? [] : { candidate, match };
    })
    .sort((a, b) => a.match.rank - b.match.rank)
    .slice(0, per_type);
}

const hasEqual = (best: readonly RankedCandidate[]): boolean => best[0]?.match.rank === EQUAL;

async function teamNames({ store }: Context, ids: readonly (number | null)[]) {
  const teamIds = [...new Set(ids.filter((id) => id !== null))];
  const teams = byId(
    teamIds.length === 0 ? [] : await store.teams.pick(["id", "name"], { where: oneOf("id", teamIds) }),
  );
  return (id: number): string | undefined => teams.get(id)?.name;
}
