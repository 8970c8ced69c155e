// The desired state of documents in the older format: their values over the server's.

import { NO_TEAM_NAME } from "../../api/settings/no-team.ts";
import type { CollectedItems, PlacedItem } from "../files/collect.ts";
import type { Problems } from "../files/problems.ts";
import type { Spec } from "../files/spec.ts";
import { kindList } from "../kinds.ts";
import type { Thing } from "../plan/diff.ts";
import { type Current, checkTeamNames } from "./current.ts";
import { checkLabelUse } from "./labels.ts";
import type { DocumentRun } from "./run.ts";

export function desiredOfDocuments(
  specs: readonly Spec[],
  items: CollectedItems,
  current: Current,
  problems: Problems,
): Thing[] {
  const { state } = current;
  const run: DocumentRun = {
    current,
    ofOrganization: specs.filter(({ name }) => name === null),
    ofTeams: teamsOf(specs, current, problems),
  };
  const usable = usableItems(items, run, problems);
  checkLabelUse(usable, state, false, problems);
  const teams = new Set([...current.namesOf("team"), ...run.ofTeams.map(({ name }) => name)]);
  return kindList.flatMap(
    ([name, kind]) =>
      kind.items?.desired(usable.get(name) ?? [], current, problems, teams) ?? kind.ofDocuments?.(run) ?? [],
  );
}

function teamsOf(specs: readonly Spec[], current: Current, problems: Problems): DocumentRun["ofTeams"] {
  const named = specs.flatMap((spec) => (spec.name === null ? [] : [{ ...spec, name: spec.name, nameAt: spec.at }]));
  const teams = current.isPremium ? named : [];
  for (const { at } of named)
    if (!current.isPremium) problems.warn(at, "this document is skipped: teams need the premium tier");
  checkTeamNames(teams, current.state, problems);
  checkOnce(teams, problems);
  return teams;
}

function checkOnce(teams: DocumentRun["ofTeams"], problems: Problems): void {
  const seen = new Map<string, Spec["at"]>();
  for (const { name, at } of teams) {
    const before = seen.get(name.toLowerCase());
    if (before) problems.error(at, `team ${name} is already defined in ${before.file}:${before.line}`);
    else seen.set(name.toLowerCase(), at);
  }
}

/** Items of the organization, and of teams that exist or come with this run. */
function usableItems(items: CollectedItems, { current, ofTeams }: DocumentRun, problems: Problems): CollectedItems {
  const teams = new Set([...current.namesOf("team"), ...ofTeams.map(({ name }) => name)]);
  const isUsable = ({ owner, at }: PlacedItem<unknown>): boolean => {
    if (owner === null) return true;
    if (!current.isPremium) problems.warn(at, "this document is skipped: teams need the premium tier");
    else if (owner !== NO_TEAM_NAME && !teams.has(owner)) problems.error(at, `there is no team ${owner}`);
    return current.isPremium;
  };
  return new Map([...items].map(([kind, all]) => [kind, all.filter(isUsable)] as const));
}
