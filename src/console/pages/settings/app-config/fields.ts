// Settings as fields of a form: what they are, their values, and what a form has changed.
import { configSecrets, secretPaths } from "../../../../api/secret-fields.ts";
import type { AppConfig } from "../../../../api/settings/app-config.ts";
import { ApiCallError } from "../../../../client/errors.ts";
import { isRecord } from "../../../../text/record.ts";
import type { FormValues } from "../../../parts/form/use-form.ts";
import { isPremium } from "../../../session.ts";
import type { ConfigField, ConfigGroup, SettingChange } from "./setting-types.ts";

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
export const fieldValue = (field: ConfigField, settings: object): unknown =>
  controlValue(field, valueAt(settings, field.path));

export function controlValue({ kind }: ConfigField, value: unknown): unknown {
  if (kind === "json") return JSON.stringify(value, null, 2);
  if (kind === "lines") return (value as readonly string[]).join("\n");
  return value;
}

/** What the value of the control is in the configuration. Throws what the server would answer to text that is no JSON. */
export function settingOf({ kind, path }: ConfigField, value: unknown): unknown {
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

/** The changes key by key, also inside of settings that are objects or lists of objects. Secrets are not shown. */
export const differencesOf = (changes: readonly SettingChange[]): readonly Difference[] =>
  changes.flatMap(({ path, before, after }) => {
    const secrets = new Set([...secretsIn(path, before), ...secretsIn(path, after)]);
    const old = leavesOf(before, path);
    const next = leavesOf(after, path);
    return [...new Set([...old.keys(), ...next.keys()])]
      .map((key) => ({ key, before: old.get(key) ?? NOT_SET, after: next.get(key) ?? NOT_SET }))
      .filter((difference) => difference.before !== difference.after)
      .map((difference) => (secrets.has(difference.key) ? hidden(difference) : difference));
  });

const NOT_SET = "(not set)";
const EMPTY = "(empty)";

const hidden = ({ key, before, after }: Difference): Difference => ({
  key,
  before: [NOT_SET, EMPTY].includes(before) ? before : "(a secret)",
  after: [NOT_SET, EMPTY].includes(after) ? after : "(another secret)",
});

/** The paths of the secrets in a value at that path of the configuration. */
function secretsIn(path: string, value: unknown): readonly string[] {
  const config = bodyOf([{ path, before: undefined, after: value }]);
  return Object.entries(configSecrets).flatMap(([section, fields]) =>
    secretPaths(fields, config[section]).map((keys) => [section, ...keys].join(".")),
  );
}

/** The changes with `@FILE` in place of settings that contain secrets, which the command line reads from files only. */
export const withoutSecrets = (changes: readonly SettingChange[]): readonly SettingChange[] =>
  changes.map((change) => (secretsIn(change.path, change.after).length === 0 ? change : { ...change, after: "@FILE" }));

function leavesOf(value: unknown, path: string): Map<string, string> {
  const members = isRecord(value) ? Object.entries(value) : isListOfRecords(value) ? [...value.entries()] : [];
  if (members.length > 0) return new Map(members.flatMap(([key, inner]) => [...leavesOf(inner, `${path}.${key}`)]));
  return new Map([[path, shownValue(value)]]);
}

const isListOfRecords = (value: unknown): value is readonly Record<string, unknown>[] =>
  Array.isArray(value) && value.every(isRecord);

export const shownValue = (value: unknown): string =>
  value === "" ? EMPTY : typeof value === "string" ? value : JSON.stringify(value);
