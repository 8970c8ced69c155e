// The labels that other objects refer to: those of the files, and those of the server that stay.

import type { ConfigurationState, ThingKey } from "../../api/configuration.ts";
import { isRecord } from "../../text/record.ts";
import type { Collected, Placed } from "../files/collect.ts";
import type { Place, Problems } from "../files/problems.ts";
import { itemKinds, kinds } from "../kinds.ts";
import type { Json } from "../plan/diff.ts";

/** Labels that the server has. */
export type Known = Pick<ConfigurationState, "builtin_labels" | "labels">;

/**
 * Checks that the labels to which objects refer will exist: in the files, or on the server unless the files are the
 * complete list.
 */
export function checkLabelUse(items: Collected, known: Known, isComplete: boolean, problems: Problems): void {
  const labels = items.get("label") ?? [];
  const builtin = new Set(known.builtin_labels);
  const usable = new Set([...labels.map(({ value }) => value.name), ...(isComplete ? [] : known.labels)]);
  for (const { value, at } of labels)
    if (builtin.has(value.name))
      problems.error(at, `${JSON.stringify(value.name)} is a built-in label: it cannot be changed`);
  for (const { kind, noun, items: ofKind } of itemKinds)
    for (const item of items.get(kind) ?? [])
      for (const field of ofKind.labelFields)
        checkNames(item, field, `${noun} ${JSON.stringify(item.value.name)}`, { builtin, usable, problems });
}

interface Checking {
  readonly builtin: ReadonlySet<string>;
  readonly usable: ReadonlySet<string>;
  readonly problems: Problems;
}

function checkNames(
  { value, place }: Placed<unknown>,
  field: string,
  who: string,
  { builtin, usable, problems }: Checking,
): void {
  for (const name of namesIn(value, field))
    if (builtin.has(name))
      problems.error(place(field), `${who} cannot use the built-in label ${JSON.stringify(name)}: use platform`);
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
  items: Collected,
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
