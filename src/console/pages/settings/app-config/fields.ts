// Settings as fields of a form: what they are, their values, and what a form has changed.
import type { AppConfig } from "../../../../api/settings/app-config.ts";
import { ApiCallError } from "../../../../client/errors.ts";
import { isRecord } from "../../../../text/record.ts";
import type { FormValues } from "../../../parts/form/use-form.ts";
import { isPremium } from "../../../session.ts";

interface BaseField {
  /** The place in the configuration, which errors of the server name too: `org_info.org_name`. */
  readonly path: string;
  readonly label: string;
  readonly hint?: string;
  /** Whether it can be set only on the premium tier. */
  readonly isPremium?: boolean;
}

export type ConfigField = BaseField &
  (
    | { readonly kind: "text" | "url" | "number" | "check" | "document" | "json" | "lines" }
    | { readonly kind: "select"; readonly options: readonly { readonly value: string; readonly label: string }[] }
  );

export interface ConfigGroup {
  /** Empty if the section has one group. */
  readonly title: string;
  readonly fields: readonly ConfigField[];
}

export interface SettingChange {
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
}

export function valueAt(config: unknown, path: string): unknown {
  let value = config;
  for (const key of path.split(".")) value = isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  return value;
}

/** The groups with the fields that the user may see: the server leaves out sections that its role may not read. */
export const shownGroups = (groups: readonly ConfigGroup[], config: AppConfig): readonly ConfigGroup[] =>
  groups
    .map(({ title, fields }) => ({
      title,
      fields: fields.filter((field) => valueAt(config, field.path) !== undefined && (isPremium() || !field.isPremium)),
    }))
    .filter(({ fields }) => fields.length > 0);

/** What the control of the field shows. */
export function fieldValue({ kind, path }: ConfigField, config: AppConfig): unknown {
  const value = valueAt(config, path);
  if (kind === "json") return JSON.stringify(value, null, 2);
  if (kind === "lines") return (value as readonly string[]).join("\n");
  return value;
}

/** What the value of the control is in the configuration. Throws what the server would answer to text that is no JSON. */
function settingOf({ kind, path }: ConfigField, value: unknown): unknown {
  if (kind === "lines")
    return String(value)
      .split("\n")
      .map((line) => line.trim())
      .filter((line) => line !== "");
  if (kind !== "json") return value;
  try {
    return JSON.parse(String(value)) as unknown;
  } catch (error) {
    const reason = `is not JSON: ${error instanceof Error ? error.message : ""}`;
    throw new ApiCallError(422, "Validation Failed", { errors: [{ name: path, reason }] });
  }
}

/** The settings whose control has another value than at first. */
export const changesOf = (
  fields: readonly ConfigField[],
  initial: FormValues,
  values: FormValues,
): readonly SettingChange[] =>
  fields
    .filter(({ path }) => values[path] !== initial[path])
    .map((field) => ({
      path: field.path,
      before: settingOf(field, initial[field.path]),
      after: settingOf(field, values[field.path]),
    }))
    .filter(({ before, after }) => JSON.stringify(before) !== JSON.stringify(after));

type Json = { [key: string]: Json | unknown };

/** The body of a request that sets these settings and no others. */
export function bodyOf(changes: readonly SettingChange[]): Record<string, unknown> {
  const body: Json = {};
  for (const { path, after } of changes) {
    const keys = path.split(".");
    const last = keys.pop()!;
    let part = body;
    for (const key of keys) {
      part[key] ??= {};
      part = part[key] as Json;
    }
    part[last] = after;
  }
  return body;
}

export interface Difference {
  readonly key: string;
  readonly before: string;
  readonly after: string;
}

/** The changes key by key, also inside of settings that are objects. */
export const differencesOf = (changes: readonly SettingChange[]): readonly Difference[] =>
  changes.flatMap(({ path, before, after }) => {
    const old = leavesOf(before, path);
    const next = leavesOf(after, path);
    return [...new Set([...old.keys(), ...next.keys()])]
      .map((key) => ({ key, before: old.get(key) ?? "(not set)", after: next.get(key) ?? "(not set)" }))
      .filter((difference) => difference.before !== difference.after);
  });

function leavesOf(value: unknown, path: string): Map<string, string> {
  if (isRecord(value) && Object.keys(value).length > 0)
    return new Map(Object.entries(value).flatMap(([key, inner]) => [...leavesOf(inner, `${path}.${key}`)]));
  return new Map([[path, shownValue(value)]]);
}

export const shownValue = (value: unknown): string =>
  value === "" ? "(empty)" : typeof value === "string" ? value : JSON.stringify(value);
