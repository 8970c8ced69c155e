// Compares values of configuration field by field. Secrets are references, which are compared and never shown.

import { isRecord, ownOf } from "./record.ts";

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

export interface FieldChange {
  /** A dotted path; empty if the value is not an object. */
  readonly path: string;
  /** Absent if the field is new or removed. */
  readonly old?: Json;
  readonly new?: Json;
  /** A secret that differs: its values are never shown. */
  readonly isSecret?: true;
  /** For output: the environment's variables that the new value comes from. Alone, only their values differ. */
  readonly variables?: readonly string[];
}

/** Whether the value is a secret: only the server can compare it with the stored one. */
export const isSecretRef = (value: Json | undefined): value is { $secret: string } =>
  isRecord(value) && typeof value.$secret === "string" && Object.keys(value).length === 1;

/** The leaves in which two values differ. Objects are compared key by key, lists as a whole. */
export function differences(old: Json | undefined, desired: Json | undefined, path = ""): FieldChange[] {
  if (isSecretRef(desired) || isSecretRef(old))
    return isSecretRef(desired) && isSecretRef(old) && desired.$secret === old.$secret
      ? []
      : [{ path, isSecret: true }];
  if (isRecord(old) && isRecord(desired)) {
    const keys = [...new Set([...Object.keys(desired), ...Object.keys(old)])];
    return keys.flatMap((key) =>
      differences(ownOf(old, key), ownOf(desired, key), path === "" ? key : `${path}.${key}`),
    );
  }
  if (isSame(old, desired)) return [];
  const [before, after] = [
    old === undefined ? {} : { old: masked(old) },
    desired === undefined ? {} : { new: masked(desired) },
  ];
  if (isSame(before.old, after.new)) return [{ path, isSecret: true }];
  return [{ path, ...before, ...after }];
}

/** The value as it may be shown: a reference is derived from its secret and would help to guess it. */
export function masked(value: Json): Json {
  if (isSecretRef(value)) return "(secret)";
  if (Array.isArray(value)) return value.map(masked);
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, masked(part)]));
}

/** Equality as JSON values, regardless of the order of keys. */
export function isSame(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, i) => isSame(item, b[i]));
  if (!isRecord(a) || !isRecord(b)) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && isSame(a[key], b[key]));
}
