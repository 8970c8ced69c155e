// What one run of `svc plan` or `svc apply` is about.
import { NO_TEAM_NAME } from "../../api/settings/no-team.ts";
import type { Problems } from "../files/problems.ts";
import type { FileScope, Files } from "../files/read.ts";
import type { Spec } from "../files/spec.ts";
import type { Owner } from "../plan/diff.ts";
import { type Current, checkTeamNames } from "./current.ts";

/** Main files, and the server's state. */
export interface Run {
  readonly current: Current;
  /** The files that apply: without a license, those of teams are skipped. */
  readonly scopes: readonly FileScope[];
  readonly global: FileScope | undefined;
  readonly noTeam: FileScope | undefined;
  readonly teams: readonly FileScope[];
  /** False if the file with the controls of hosts without a team was skipped, so that they are unknown. */
  readonly hasAllControls: boolean;
  /** Owners whose objects the files list completely. */
  readonly owners: ReadonlySet<Owner>;
  readonly problems: Problems;
  /** Whether the team is deleted, because no file names it. */
  deletesTeam(name: string): boolean;
}

/** Documents in the older format, and the server's state. */
export interface DocumentRun {
  readonly current: Current;
  readonly ofOrganization: readonly Spec[];
  readonly ofTeams: readonly (Spec & { readonly name: string })[];
}

export function newRun(files: Files, current: Current, deleteOtherTeams: boolean): Run {
  const { state } = current;
  const scopes = usable(files, current);
  const owners = new Set(scopes.map(({ owner }) => owner));
  const global = scopes.find(({ kind }) => kind === "global");
  // If no file defines the settings of hosts without a team, they are reset.
  if (global && current.isPremium) owners.add(NO_TEAM_NAME);
  const teams = scopes.filter(({ kind }) => kind === "team");
  checkTeamNames(teams, state, files.problems);
  const named = new Set(teams.map(({ name }) => name));
  return {
    current,
    scopes,
    global,
    noTeam: scopes.find(({ kind }) => kind === "no_team"),
    teams,
    hasAllControls: files.scopes.every(
      (scope) => scopes.includes(scope) || scope.kind !== "no_team" || !scope.values.controls,
    ),
    owners,
    problems: files.problems,
    deletesTeam: (name) => deleteOtherTeams && current.isPremium && !named.has(name),
  };
}

/** The names of the teams that will exist. */
export function teamsAfter({ current, teams, deletesTeam }: Run): ReadonlySet<string> {
  const kept = current.namesOf("team").filter((name) => !deletesTeam(name));
  return new Set([...kept, ...teams.flatMap(({ name }) => name ?? [])]);
}

/** The free tier has no teams: team files are skipped. */
function usable({ scopes, problems }: Files, { isPremium }: Current): readonly FileScope[] {
  if (isPremium) return scopes;
  for (const { kind, nameAt } of scopes)
    if (kind !== "global") problems.warn(nameAt, "this file is skipped: teams need the premium tier");
  return scopes.filter(({ kind }) => kind === "global");
}
