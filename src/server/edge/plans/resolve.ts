// Turns the changes of a plan into complete values, as the apply of configuration takes them.
import type { Pin, ThingChange } from "../../../api/edge/configuration.ts";
import type { PlanChange } from "../../../api/edge/plans.ts";
import { isRecord, ownOf } from "../../../text/record.ts";
import { configurationKind } from "../configuration/kinds.ts";
import { type Json, keyOf, revisionOf, shown, type Thing } from "../configuration/values.ts";

export type Things = ReadonlyMap<string, Thing>;

/** The current value of an object as a request may contain it: each stored secret says that it stays. */
const currentValue = (thing: Thing | undefined): Json | undefined => thing && shown(thing.value, new Map());

/** The changes of a request after earlier ones, which leave their objects as the later ones take them. */
export function resolveChanges(
  changes: readonly PlanChange[],
  earlier: readonly ThingChange[],
  current: Things,
): ThingChange[] {
  const staged = new Map(earlier.map((change) => [keyOf(change), change]));
  const further: ThingChange[] = [];
  for (const change of changes) {
    const key = keyOf(change);
    const before = staged.get(key);
    if (before === undefined) further.push(resolveChange(change, current));
    else if (before.action === "create" && change.action === "delete") staged.delete(key);
    else {
      const after = resolveChange(change, before.action === "delete" ? current : withStaged(current, key, before));
      staged.set(key, before.action === "create" ? { ...after, action: "create" } : after);
    }
  }
  return [...staged.values(), ...further];
}

const withStaged = (current: Things, key: string, { kind, owner, name, value }: ThingChange): Things =>
  new Map(current).set(key, { kind, owner, name, value });

function resolveChange({ kind, owner, name, action, value }: PlanChange, current: Things): ThingChange {
  const key = { kind, owner, name };
  if (action === "delete") return { ...key, action };
  const before = currentValue(current.get(keyOf(key)));
  const isItem = configurationKind(key).per === "many";
  if (before === undefined) return { ...key, action: isItem ? "create" : "update", value: value ?? {} };
  return { ...key, action: "update", value: isItem ? withFields(before, value) : merged(before, value) };
}

/** The fields of the change in place of those that the object has. */
const withFields = (before: Json, value: Json | undefined): Json =>
  isRecord(before) && isRecord(value) ? { ...before, ...value } : (value ?? before);

/** Settings have fields inside of fields. Lists are replaced. */
function merged(before: Json, value: Json | undefined): Json {
  if (!isRecord(before) || !isRecord(value)) return value === undefined ? before : value;
  const result: Record<string, Json> = { ...before };
  for (const [key, member] of Object.entries(value as Record<string, Json>)) {
    const old = ownOf(before as Record<string, Json>, key);
    Object.defineProperty(result, key, {
      value: isSecret(member) || old === undefined ? member : merged(old, member),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return result;
}

const isSecret = (value: Json): boolean => isRecord(value) && "$secret" in value;

/** The revisions of the objects as they are now, or as they were for earlier changes of them. */
export function pinsFor(
  changes: readonly ThingChange[],
  { current, earlier, key }: { readonly current: Things; readonly earlier: readonly Pin[]; readonly key: string },
): Pin[] {
  const pins = new Map(earlier.map((pin) => [keyOf(pin), pin]));
  return changes.map(({ kind, owner, name }) => {
    const thing = current.get(keyOf({ kind, owner, name }));
    return (
      pins.get(keyOf({ kind, owner, name })) ?? { kind, owner, name, revision: thing ? revisionOf(key, thing) : null }
    );
  });
}
