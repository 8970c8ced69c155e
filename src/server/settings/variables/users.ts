// What the features that use variables are asked when these change.

import type { Context } from "../../platform/core/context.ts";
import { conflict } from "../../platform/core/errors.ts";
import { type VariableKey, variablesIn, written } from "./text.ts";
import { variableUsers } from "./use.ts";

/** 409 that names a use. */
export async function checkUnused({ store, extensions }: Context, key: VariableKey, what: string): Promise<void> {
  for (const user of extensions.of(variableUsers)) {
    const use = await user.findUse(store, (text) => variablesIn(text).includes(key));
    if (use !== null) throw conflict(`${what} (${written(key)}) is used by ${use}: remove it there first`);
  }
}

/** `hostIds`: the values differ on these hosts only. */
export async function valuesChanged(
  inside: Context,
  keys: readonly VariableKey[],
  hostIds?: readonly number[],
): Promise<void> {
  if (keys.length === 0) return;
  const changed = new Set(keys);
  for (const user of inside.extensions.of(variableUsers))
    await user.changed?.(inside, (text) => variablesIn(text).some((key) => changed.has(key)), hostIds);
}
