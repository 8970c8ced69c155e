// What plans consist of, and the comparison of values, which knows no kind: the kinds themselves use it.

import { isRecord, ownOf } from "../../text/record.ts";

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** The owner: null for global objects, a team's name, or the hosts without a team. */
export type Owner = string | null;

export interface Thing {
  readonly kind: string;
  readonly owner: Owner;
  /** The name of the section, label, policy and so on. A kind with one object per scope uses the kind's name. */
  readonly name: string;
  /** What people call an object whose name is a digest. Only the server knows it. */
  readonly title?: string | undefined;
  readonly value: Json;
}

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

export interface Change {
  readonly action: "create" | "update" | "delete";
  readonly kind: string;
  readonly owner: Owner;
  readonly name: string;
  /** Title for people, as `Thing` has it; absent for what is created. */
  readonly title?: string | undefined;
  /** For updates: the fields that differ, in the order of the files. */
  readonly fields: readonly FieldChange[];
  /** The desired value; null for deletions. */
  readonly value: Json;
  /** For a team that is deleted: the number of its hosts, and some of their names. */
  readonly hosts?: HostsOfTeam | undefined;
  /** What people should know before they apply it. */
  readonly note?: string | undefined;
}

export interface HostsOfTeam {
  readonly count: number;
  readonly names: readonly string[];
}

/** Whether the value is a secret: only the server can compare it with the stored one. */
export const isSecretRef = (value: Json | undefined): value is { $secret: string } =>
  isRecord(value) && typeof value.$secret === "string" && Object.keys(value).length === 1;

export const keyOf = ({ kind, owner, name }: Pick<Thing, "kind" | "owner" | "name">): string =>
  JSON.stringify([kind, owner, name]);

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
