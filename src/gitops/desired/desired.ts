// The desired state as whole values: the files' values over the defaults, or over the server's where the format keeps
// them.
import type { ConfigurationState, ThingKey } from "../../api/edge/configuration.ts";
import type { Problems } from "../files/problems.ts";
import type { Files } from "../files/read.ts";
import { kindList, kinds } from "../kinds.ts";
import type { Thing } from "../plan/diff.ts";
import { Current } from "./current.ts";
import { desiredOfDocuments } from "./documents.ts";
import { exceptionNotes, refuseLabels, settleUnlisted, staysByHand } from "./exceptions.ts";
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
  /** What happens to what people change by hand, as sentences. */
  readonly notes: readonly string[];
  /** The objects of `files`, completed with values that only the server's state has. */
  readonly problems: Problems;
}

export function desiredOf(
  files: Files,
  state: ConfigurationState,
  { deleteOtherTeams = false, allowUnknownHosts = false }: DesiredOptions = {},
): DesiredState {
  const { problems } = files;
  const current = new Current(state, allowUnknownHosts);
  refuseLabels(files, current);
  const notes = exceptionNotes(current, files.scopes);
  if (files.specs)
    return {
      things: desiredOfDocuments(files.specs, files.items, current, problems),
      isComplete: () => false,
      notes,
      problems,
    };
  settleUnlisted(problems, current, files.scopes);
  const run = newRun(files, current, deleteOtherTeams);
  const { global, owners } = run;
  const items = new Map(
    [...files.items].map(
      ([kind, all]) =>
        [kind, kinds[kind]?.items?.isOfAllFiles ? all : all.filter(({ owner }) => owners.has(owner))] as const,
    ),
  );
  const labelsFrom = current.isExcepted("labels") ? undefined : global;
  checkLabelUse(items, state, labelsFrom !== undefined, problems);
  const teams = teamsAfter(run);
  const things = kindList.flatMap(
    ([name, kind]) =>
      kind.items?.desired(items.get(name) ?? [], current, problems, teams) ?? kind.desired?.(run, items) ?? [],
  );
  const isComplete = (thing: ThingKey): boolean => {
    const kind = kinds[thing.kind];
    if (staysByHand(thing, current, run.scopes)) return false;
    return kind?.isComplete?.(thing, run) ?? (kind?.items !== undefined && owners.has(thing.owner));
  };
  if (labelsFrom)
    remainingUses(state, items, {
      at: labelsFrom.lists.label?.key ?? labelsFrom.nameAt,
      problems,
      stays: (thing) => !isComplete(thing) && !(thing.owner !== null && run.deletesTeam(thing.owner)),
    });
  return { things, isComplete, notes, problems };
}
