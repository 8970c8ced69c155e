// The changes that bring the server to the desired state: a pure comparison by object and field.

import { differences } from "../../text/differences.ts";
import { inAnyOrder, kindNames } from "../kinds.ts";
import { type Change, keyOf, type Thing } from "./diff.ts";
import { compareTexts } from "./values.ts";

/** Objects that are on the server but not in the files are deleted if `isComplete` returns true for them. */
export function diff(
  current: readonly Thing[],
  desired: readonly Thing[],
  isComplete: (thing: Thing) => boolean,
): Change[] {
  const before = new Map(current.map((thing) => [keyOf(thing), thing]));
  const changes: Change[] = [];
  for (const thing of desired) {
    const { kind, owner, name, value } = thing;
    const old = before.get(keyOf(thing));
    before.delete(keyOf(thing));
    if (!old) changes.push({ action: "create", kind, owner, name, fields: [], value });
    else {
      const fields = differences(inAnyOrder(kind, old.value), inAnyOrder(kind, value));
      if (fields.length > 0) changes.push({ action: "update", kind, owner, name, ...titleIn(old), fields, value });
    }
  }
  for (const thing of before.values())
    if (isComplete(thing)) {
      const { kind, owner, name } = thing;
      changes.push({ action: "delete", kind, owner, name, ...titleIn(thing), fields: [], value: null });
    }
  return changes.sort(inOrder);
}

const titleIn = ({ title }: Thing) => (title === undefined ? {} : { title });

const actions = ["create", "update", "delete"] as const;

/** Sorted by kind in order of dependency, then owner, name and action, so that equal plans read the same. */
function inOrder(a: Change, b: Change): number {
  return (
    kindNames.indexOf(a.kind) - kindNames.indexOf(b.kind) ||
    compareTexts(a.owner ?? "", b.owner ?? "") ||
    compareTexts(a.name, b.name) ||
    actions.indexOf(a.action) - actions.indexOf(b.action)
  );
}
