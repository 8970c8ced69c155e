// The labels that other objects refer to: those of the files, and those of the server that stay.

import { type ConfigurationState, maybeDeletedLabel, type ThingKey } from "../../api/edge/configuration.ts";
import { NO_TEAM_NAME } from "../../api/settings/no-team.ts";
import type { Json } from "../../text/differences.ts";
import { isRecord } from "../../text/record.ts";
import type { CollectedItems, PlacedItem } from "../files/collect.ts";
import type { Place, Problems } from "../files/problems.ts";
import { itemKinds, kinds } from "../kinds.ts";

/** Labels that the server has. */
export type ExistingLabels = Pick<ConfigurationState, "builtin_labels" | "labels" | "things">;

/**
 * Checks that the labels to which objects refer will exist: in the files, or on the server unless the files are the
 * complete list.
 */
export function checkLabelUse(
  items: CollectedItems,
  existing: ExistingLabels,
  isComplete: boolean,
  problems: Problems,
): void {
  const labels = items.get("label") ?? [];
  const builtin = new Set(existing.builtin_labels);
  const usable = new Set([...labels.map(({ value }) => value.name), ...(isComplete ? [] : existing.labels)]);
  for (const { value, at } of labels)
    if (builtin.has(value.name))
      problems.error(at, `${JSON.stringify(value.name)} is a built-in label: it cannot be changed`);
  const kept = new Set(deletedLabels(existing).map(({ thing, field, label }) => useKey(thing, field, label)));
  for (const { kind, noun, items: ofKind } of itemKinds)
    for (const item of items.get(kind) ?? [])
      for (const field of ofKind.labelFields) {
        const { name } = item.value;
        const isKept = (label: string) => kept.has(useKey({ kind, owner: item.owner, name }, field, label));
        const who = `${noun} ${JSON.stringify(name)}`;
        checkNames(item, field, who, { builtin, usable, isKept, problems });
      }
}

/** An object of the server that names a deleted label, by the name that the state gives it. */
export interface DeletedUse {
  readonly thing: ThingKey;
  readonly field: string;
  readonly label: string;
}

/** The deleted labels that objects of the server still name. Their exported files name them too. */
export function deletedLabels({ things, labels }: Pick<ConfigurationState, "things" | "labels">): DeletedUse[] {
  const present = new Set(labels);
  return things.flatMap((thing) =>
    (kinds[thing.kind]?.items?.labelFields ?? []).flatMap((field) =>
      namesIn(thing.value as Json, field)
        .filter((label) => maybeDeletedLabel(label) && !present.has(label))
        .map((label) => ({ thing, field, label })),
    ),
  );
}

const namesDeleted = (who: string, label: string): string =>
  `${who} names the label ${JSON.stringify(label)}: no further host gets it until its labels are corrected`;

/** What the object is called, and what its deleted label causes. */
export const aboutDeleted = ({ thing: { kind, name }, label }: DeletedUse): string =>
  namesDeleted(`${kinds[kind]?.noun} ${JSON.stringify(name)}`, label);

/** Some objects of hosts without a team are those of the organization on the server, and of "No team" in files. */
const useKey = ({ kind, owner, name }: ThingKey, field: string, label: string): string =>
  JSON.stringify([kind, owner === NO_TEAM_NAME ? null : owner, name, field, label]);

interface Checking {
  readonly builtin: ReadonlySet<string>;
  readonly usable: ReadonlySet<string>;
  /** Whether the name is that of a deleted label that the object names on the server too. */
  isKept(name: string): boolean;
  readonly problems: Problems;
}

function checkNames(
  { value, place }: PlacedItem<unknown>,
  field: string,
  who: string,
  { builtin, usable, isKept, problems }: Checking,
): void {
  for (const name of namesIn(value, field))
    if (builtin.has(name))
      problems.error(place(field), `${who} cannot use the built-in label ${JSON.stringify(name)}: use platform`);
    else if (isKept(name)) problems.warn(place(field), namesDeleted(who, name));
    else if (!usable.has(name))
      problems.error(place(field), `${who} uses the label ${JSON.stringify(name)}, which will not exist`);
}

const namesIn = (value: unknown, field: string): string[] => {
  const names = isRecord(value) ? value[field] : undefined;
  return Array.isArray(names) ? names.map(String) : [];
};

interface Staying {
  readonly at: Place;
  readonly problems: Problems;
  stays(thing: ThingKey): boolean;
}

/** A label cannot be deleted while an object that no file of this run defines refers to it. */
export function remainingUses(
  { things }: ConfigurationState,
  items: CollectedItems,
  { at, problems, stays }: Staying,
): void {
  const kept = new Set(items.get("label")?.map(({ value }) => value.name));
  const gone = new Set(things.filter(({ kind, name }) => kind === "label" && !kept.has(name)).map(({ name }) => name));
  if (gone.size === 0) return;
  for (const thing of things) {
    const fields = kinds[thing.kind]?.items?.labelFields ?? [];
    if (fields.length === 0 || !stays(thing)) continue;
    for (const name of fields.flatMap((field) => namesIn(thing.value as Json, field)))
      if (gone.has(name))
        problems.error(
          at,
          `the label ${JSON.stringify(name)} is not in the files, but the ${kinds[thing.kind]?.noun} ${JSON.stringify(thing.name)} of ${thing.owner ?? "all hosts"} uses it`,
        );
  }
}
