// The desired state as whole values: the files' values over the defaults, or over the server's where the format keeps
// them.
import { type ConfigurationState, NO_TEAM_NAME, type ThingKey } from "../../api/configuration.ts";
import type { Problems } from "../files/problems.ts";
import type { FileScope, Files } from "../files/read.ts";
import { itemKinds } from "../kinds.ts";
import type { Thing } from "../plan/diff.ts";
import { Current, checkTeamNames, secretsThings } from "./current.ts";
import { desiredOfDocuments } from "./documents.ts";
import { checkLabelUse, remainingUses } from "./labels.ts";
import { desiredConfig, desiredNoTeam, desiredTeam } from "./settings.ts";

export interface DesiredOptions {
  /** Teams that no file names are deleted. */
  readonly deleteOtherTeams?: boolean;
}

export interface Desired {
  readonly things: readonly Thing[];
  /** Whether the files are the complete list of this kind, so that an object which is not in `things` is deleted. */
  isComplete(thing: ThingKey): boolean;
  /** The objects of `files`, completed with values that only the server's state has. */
  readonly problems: Problems;
}

export function desiredOf(
  files: Files,
  state: ConfigurationState,
  { deleteOtherTeams = false }: DesiredOptions = {},
): Desired {
  const { problems } = files;
  const current = new Current(state);
  if (files.specs) {
    const things = desiredOfDocuments(files.specs, files.items, current, problems);
    return { things, isComplete: () => false, problems };
  }
  const scopes = usable(files, current);
  const owners = new Set(scopes.map(({ owner }) => owner));
  const global = scopes.find(({ kind }) => kind === "global");
  const noTeam = scopes.find(({ kind }) => kind === "no_team");
  // If no file defines the settings of hosts without a team, they are reset.
  if (global && current.isPremium) owners.add(NO_TEAM_NAME);
  const items = new Map(
    [...files.items].map(([kind, all]) => [kind, all.filter(({ owner }) => owners.has(owner))] as const),
  );
  const teams = scopes.filter(({ kind }) => kind === "team");
  checkTeamNames(teams, state, problems);
  checkLabelUse(items, state, global !== undefined, problems);
  const things = [
    ...(global ? desiredConfig(global, noTeam, current) : []),
    ...(global ? global.says.authorities : []),
    ...teams.flatMap((team) => desiredTeam(team, current)),
    ...(owners.has(NO_TEAM_NAME) ? desiredNoTeam(noTeam, current) : []),
    ...scopes.flatMap(({ owner, says }) => secretsThings(owner, says.secrets)),
    ...itemKinds.flatMap(({ kind, items: { desired } }) => desired(items.get(kind) ?? [], current, problems)),
  ];
  const named = new Set(teams.map(({ name }) => name));
  const goes = ({ name }: Pick<ThingKey, "name">) => deleteOtherTeams && current.isPremium && !named.has(name);
  const isComplete = (thing: ThingKey): boolean => {
    const { kind, owner } = thing;
    if (kind === "label" || kind === "certificate_authority") return global !== undefined;
    if (kind === "policy" || kind === "query") return owners.has(owner);
    return kind === "team" && goes(thing);
  };
  if (global)
    remainingUses(state, items, {
      at: global.lists.label?.key ?? global.nameAt,
      problems,
      stays: (thing) => !isComplete(thing) && !(thing.owner !== null && goes({ name: thing.owner })),
    });
  return { things, isComplete, problems };
}

/** The free tier has no teams: team files are skipped. */
function usable({ scopes, problems }: Files, { isPremium }: Current): readonly FileScope[] {
  if (isPremium) return scopes;
  for (const { kind, nameAt } of scopes)
    if (kind !== "global") problems.warn(nameAt, "this file is skipped: teams need the premium tier");
  return scopes.filter(({ kind }) => kind === "global");
}
