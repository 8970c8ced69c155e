// Settings of device management, which files call controls.

import { isRecord } from "../../text/record.ts";
import type { Value } from "../files/overlay.ts";
import { movedSettings, valueAt, withValueAt } from "../schema/moved.ts";
import { type GlobalControls, mdmLeft } from "../schema/settings.ts";
import { objectIn, overlaid } from "./values.ts";

/** The settings with those of controls; paths that files cannot express keep their values. */
export function withControls(
  schema: typeof GlobalControls,
  base: Value,
  controls: Value | null | undefined,
  before: unknown,
): Value {
  const merged = withMoved(overlaid(schema, base, controls), controls ?? {});
  const value = withUpdates(merged, objectIn(controls, "macos_updates"));
  return mdmLeft.reduce((left, path) => copied(left, before, path.split(".")), value);
}

/** Files of hosts have a place in controls, but are objects of their own: the server's settings do not have the key. */
function copied(value: Value, from: unknown, [key, ...rest]: readonly string[]): Value {
  if (key === undefined || !isRecord(from) || !Object.hasOwn(value, key)) return value;
  if (rest.length > 0) return { ...value, [key]: copied(objectIn(value, key), from[key], rest) };
  const { [key]: _, ...others } = value;
  return Object.hasOwn(from, key) ? { ...others, [key]: from[key] } : others;
}

/** Settings that have no place of their own in controls. */
const withMoved = (value: Value, controls: Value): Value =>
  movedSettings.reduce((left, { setting }) => {
    const moved = valueAt(controls, setting);
    return moved === undefined || moved === null ? left : withValueAt(left, setting, moved);
  }, value);

/** The default of the setting: new hosts are updated when both version and deadline are set. */
function withUpdates(value: Value, input: Value): Value {
  const updates = objectIn(value, "macos_updates");
  const hasDeadline = updates.deadline !== "" || (updates.deadline_days ?? null) !== null;
  const update_new_hosts = input.update_new_hosts ?? (updates.minimum_version !== "" && hasDeadline);
  return { ...value, macos_updates: { ...updates, update_new_hosts } };
}

/** The settings of a document of the older format over those of the server. */
export function overControls(schema: typeof GlobalControls, before: unknown, change: Value): Value {
  const value = withMoved(overlaid(schema, before, change), change);
  return isRecord(change.macos_updates) && isRecord(value.macos_updates)
    ? withUpdates(value, change.macos_updates)
    : value;
}
