// What a plan shows of its changes: the fields that differ and the new values, with secrets masked.
import type { ThingChange } from "../../../api/edge/configuration.ts";
import type { PlannedField } from "../../../api/edge/plans.ts";
import { differences, type FieldChange, type Json, masked } from "../../../text/differences.ts";
import { isRecord } from "../../../text/record.ts";
import { keyOf, Secret, shown, type Thing } from "../configuration/values.ts";
import type { Things } from "./resolve.ts";
import type { StoredChange } from "./stored.ts";

/** Elements of a list that are shown. A label may have many hosts. */
const ELEMENTS_MAX = 1000;

export type Difference = Omit<StoredChange, "effect">;

/** Null: the change has no effect on the object. */
export function differenceOf(
  { kind, owner, name, action, value }: ThingChange,
  before: Things,
  after: Things,
): Difference | null {
  const key = { kind, owner, name };
  const old = before.get(keyOf(key));
  const title = old?.title;
  const about = { ...key, ...(title === undefined ? {} : { title }) };
  if (action === "delete") return { ...about, action, fields: [], value: null };
  const refs = new Map<string, string>();
  // Packages that only the real apply downloads are not there after the trial.
  const desired: Thing = after.get(keyOf(key)) ?? { ...key, value };
  collectSecrets([old?.value, desired.value], refs);
  const [oldValue, newValue] = [old && shown(old.value, refs), shown(desired.value, refs)];
  if (oldValue === undefined) return { ...about, action: "create", fields: [], value: shortened(masked(newValue)) };
  const fields = differences(oldValue, newValue);
  if (fields.length === 0) return null;
  return { ...about, action: "update", fields: fields.map(fieldOf), value: shortened(masked(newValue)) };
}

/** Numbers the secrets, so that equal ones have equal references. */
function collectSecrets(value: unknown, refs: Map<string, string>): void {
  if (value instanceof Secret) {
    if (!refs.has(value.text)) refs.set(value.text, `secret ${refs.size + 1}`);
  } else if (typeof value === "object" && value !== null)
    for (const member of Object.values(value)) collectSecrets(member, refs);
}

const fieldOf = ({ path, old, new: desired, isSecret }: FieldChange): PlannedField => ({
  path,
  ...(old === undefined ? {} : { old: shortened(old) }),
  ...(desired === undefined ? {} : { new: shortened(desired) }),
  ...(isSecret ? { secret: true } : {}),
});

type ShownValue = StoredChange["value"];

function shortened(value: Json): ShownValue {
  if (Array.isArray(value)) {
    const list: ShownValue[] = value.slice(0, ELEMENTS_MAX).map(shortened);
    return value.length > ELEMENTS_MAX ? [...list, `... and ${value.length - ELEMENTS_MAX} more`] : list;
  }
  if (!isRecord(value)) return value as ShownValue;
  return Object.fromEntries(Object.entries(value as Record<string, Json>).map(([key, part]) => [key, shortened(part)]));
}
