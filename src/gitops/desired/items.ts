// Labels that are deleted although objects which stay refer to them.

import type { ConfigurationState, ThingKey } from "../../api/configuration.ts";
import { isRecord } from "../../text/record.ts";
import type { Placed } from "../files/collect.ts";
import type { Place, Problems } from "../files/problems.ts";
import { kinds } from "../kinds.ts";
import type { Json } from "../plan/diff.ts";

interface Staying {
  readonly at: Place;
  readonly problems: Problems;
  stays(thing: ThingKey): boolean;
}

/** A label cannot be deleted while an object that no file of this run defines refers to it. */
export function remainingUses(
  { things }: ConfigurationState,
  labels: readonly Placed<{ readonly name: string }>[],
  { at, problems, stays }: Staying,
): void {
  const kept = new Set(labels.map(({ value }) => value.name));
  const gone = new Set(things.filter(({ kind, name }) => kind === "label" && !kept.has(name)).map(({ name }) => name));
  if (gone.size === 0) return;
  for (const thing of things) {
    const fields = kinds[thing.kind].items?.labelFields ?? [];
    if (fields.length === 0 || !stays(thing)) continue;
    const value = thing.value as Json;
    for (const field of fields) {
      const names = isRecord(value) ? value[field] : undefined;
      for (const name of Array.isArray(names) ? names : [])
        if (gone.has(String(name)))
          problems.error(
            at,
            `the label ${JSON.stringify(name)} is not in the files, but the ${thing.kind} ${JSON.stringify(thing.name)} of ${thing.owner ?? "all hosts"} uses it`,
          );
    }
  }
}
