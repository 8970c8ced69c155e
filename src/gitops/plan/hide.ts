// What may be printed of a plan: the names of variables in place of their values.

import { type FieldChange, isSecretRef, type Json } from "../../text/differences.ts";
import { isRecord } from "../../text/record.ts";
import { type Masks, NOT_SHOWN } from "../environment/masks.ts";
import type { Change } from "./diff.ts";

/** The texts of secrets by reference. */
type Secrets = ReadonlyMap<string, string>;

/** Changes as they may be printed. Only the ones before this are applied. */
export const hidden = (changes: readonly Change[], masks: Masks, secrets: Secrets): Change[] =>
  changes.map((change) => {
    const { name, owner, title, fields, value, hosts, note } = change;
    return {
      ...change,
      name: masks.hide(name),
      owner: owner && masks.hide(owner),
      ...(title === undefined ? {} : { title: masks.hide(title) }),
      fields: fields.map((field) => hiddenField(field, value, masks, secrets)),
      value: hiddenValue(value, masks),
      ...(hosts === undefined ? {} : { hosts: { ...hosts, names: hosts.names.map((name) => masks.hide(name)) } }),
      ...(note === undefined ? {} : { note: masks.hide(note) }),
    };
  });

function hiddenField(field: FieldChange, whole: Json, masks: Masks, secrets: Secrets): FieldChange {
  const path = masks.hide(field.path);
  if (field.isSecret) {
    const variables = namesOfSecrets(valueAt(whole, field.path), masks, secrets);
    return { path, isSecret: true, ...(variables.length > 0 ? { variables } : {}) };
  }
  const desired = field.new === undefined ? undefined : hiddenValue(field.new, masks);
  const variables = field.new === undefined ? [] : masks.namesIn(textOf(field.new));
  if (variables.length === 0 || field.old === undefined || desired === undefined)
    return {
      path,
      ...(field.old === undefined ? {} : { old: hiddenValue(field.old, masks) }),
      ...(desired === undefined ? {} : { new: desired }),
      ...(variables.length > 0 ? { variables } : {}),
    };
  // The server may have an earlier value of the variable.
  if (isValueOnly(field.old, desired, variables)) return { path, variables };
  return { path, old: NOT_SHOWN, new: desired, variables };
}

/** Whether only the values of variables differ. */
function isValueOnly(old: Json, desired: Json, variables: readonly string[]): boolean {
  if (typeof desired !== "string" || typeof old === "object") return false;
  const parts = desired.split(new RegExp(variables.map((name) => `\\$${name}(?![A-Za-z0-9_])`).join("|")));
  const text = String(old);
  let at = 0;
  for (const part of parts.slice(0, -1)) {
    const start = text.indexOf(part, at);
    if (start === -1 || (at === 0 && start !== 0)) return false;
    at = start + part.length;
  }
  return text.length >= at + parts.at(-1)!.length && text.endsWith(parts.at(-1)!);
}

function hiddenValue(value: Json, masks: Masks): Json {
  if (typeof value === "string") return masks.hide(value);
  if (typeof value === "number") return masks.hide(String(value)) === String(value) ? value : masks.hide(String(value));
  if (isSecretRef(value) || value === null || typeof value === "boolean") return value;
  if (Array.isArray(value)) return value.map((element: Json) => hiddenValue(element, masks));
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [masks.hide(key), hiddenValue(member, masks)]),
  );
}

const textOf = (value: Json): string => (typeof value === "string" ? value : JSON.stringify(value));

function namesOfSecrets(value: Json | undefined, masks: Masks, secrets: Secrets): string[] {
  if (value === undefined) return [];
  if (isSecretRef(value)) return [...masks.namesIn(secrets.get(value.$secret) ?? "")];
  const inner = Array.isArray(value) ? value : isRecord(value) ? Object.values(value) : [];
  return [...new Set(inner.flatMap((part: Json) => namesOfSecrets(part, masks, secrets)))];
}

/** The value at a dotted path; keys may contain dots themselves. */
function valueAt(value: Json | undefined, path: string): Json | undefined {
  if (path === "" || !isRecord(value)) return path === "" ? value : undefined;
  const key = Object.keys(value).find((candidate) => path === candidate || path.startsWith(`${candidate}.`));
  return key === undefined ? undefined : valueAt(value[key] as Json, path.slice(key.length + 1));
}
