// Finds in the activity feed who changed the server after the last apply, and when.
import type { Activity } from "../../api/platform/activities.ts";
import type { FieldChange } from "../../text/differences.ts";
import { kinds } from "../kinds.ts";
import { type Details, isOfField } from "./activities.ts";
import type { Change } from "./diff.ts";

/** The types of activities that can explain one of the changes. */
export const typesFor = (changes: readonly Change[]): string[] =>
  [...new Set(changes.flatMap((change) => kinds[change.kind]?.typesOf(change) ?? []))].sort();

/** Whether the activity explains the object's current state. */
export function explains({ type, details }: Pick<Activity, "type" | "details">, change: Change): boolean {
  const fields = (details ?? {}) as Details;
  const { kind, action } = change;
  const definition = kinds[kind];
  if (!definition?.typesOf(change).includes(type)) return false;
  // A missing object was deleted; an existing one was not.
  const isDeletion = type.startsWith("deleted_") && !isOfField(type);
  if (kind !== "config" && kind !== "team_settings" && isDeletion !== (action === "create")) return false;
  return definition.isAbout(fields, type, change);
}

/** The newest activity that explains each change; activities come newest first. */
export function attribute(changes: readonly Change[], activities: readonly Activity[]): (Activity | null)[] {
  return changes.map((change) => activities.find((activity) => explains(activity, change)) ?? null);
}

/** The reversed plan: from the files to the server. What the plan would add is missing on the server. */
export function asDrift(change: Change): Change {
  const action = ({ create: "delete", update: "update", delete: "create" } as const)[change.action];
  const fields = change.fields.map(
    ({ old, new: desired, ...field }): FieldChange => ({
      ...field,
      ...(desired === undefined ? {} : { old: desired }),
      ...(old === undefined ? {} : { new: old }),
    }),
  );
  return { ...change, action, value: null, fields };
}
