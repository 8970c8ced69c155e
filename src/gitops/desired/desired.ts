// The desired state as whole values: the files' values over the defaults, or over the server's where the format keeps
// them.
import type { ConfigurationState, ThingKey } from "../../api/edge/configuration.ts";
import type { Problems } from "../files/problems.ts";
import type { Files } from "../files/read.ts";
import { kindList, kinds } from "../kinds.ts";
import type { Thing } from "../plan/diff.ts";
import { Current } from "./current.ts";
import { desiredOfDocuments } from "./documents.ts";
import { checkLabelUse, remainingUses } from "./labels.ts";
import { newRun, teamsAfter } from "./run.ts";

export interface DesiredOptions {
  /** Teams that no file names are deleted. */
  readonly deleteOtherTeams?: boolean;
  /** Hosts that labels name but the server does not have are warnings instead of errors. */
  readonly allowUnknownHosts?: boolean;
}

export interface DesiredState {
  readonly things: readonly Thing[];
  /** Whether the files are the complete list of this kind, so that an object which is not in `things` is deleted. */
  isComplete(thing: ThingKey): boolean;
  /** The objects of `files`, completed with values that only the server's state has. */
  readonly problems: Problems;
}

export function desiredOf(
  files: Files,
  state: ConfigurationState,
  { deleteOtherTeams = false, allowUnknownHosts = false }: DesiredOptions = {},
): DesiredState {
  const { problems } = files;
  if (files.specs)
    return {
      things: desiredOfDocuments(files.specs, files.items, new Current(state, allowUnknownHosts), problems),
      isComplete: () => false,
      problems,
    };
  const run = newRun(files, new Current(state, allowUnknownHosts), deleteOtherTeams);
  const { current, global, owners } = run;
  const items = new Map(
    [...files.items].map(
      ([kind, all]) =>
        [kind, kinds[kind]?.items?.isOfAllFiles ? all : all.filter(({ owner }) => owners.has(owner))] as const,
    ),
  );
  checkLabelUse(items, state, global !== undefined, problems);
  const teams = teamsAfter(run);
  const things = kindList.flatMap(
    ([name, kind]) =>
      kind.items?.desired(items.get(name) ?? [], current, problems, teams) ?? kind.desired?.(run, items) ?? [],
  );
  const isComplete = (thing: ThingKey): boolean => {
    const kind = kinds[thing.kind];
    return kind?.isComplete?.(thing, run) ?? (kind?.items !== undefined && owners.has(thing.owner));
  };
  if (global)
    remainingUses(state, items, {
      at: global.lists.label?.key ?? global.nameAt,
      problems,
      stays: (thing) => !isComplete(thing) && !(thing.owner !== null && run.deletesTeam(thing.owner)),
    });
  return { things, isComplete, problems };
}
