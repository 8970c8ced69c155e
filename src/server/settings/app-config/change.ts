// Computes the sections after a change. Pure, so that a dry run does the same without writing.

import { isDeepStrictEqual } from "node:util";
import { isRecord } from "../../../text/record.ts";
import { type FieldError, invalidFields } from "../../platform/core/errors.ts";
import { unknownKeys, unsupported } from "../../platform/core/http/unknown-keys.ts";
import { getPath, merge, within, without, withoutUnset, withPath, wrongType } from "./merge.ts";
import { rebound, unmasked } from "./secrets.ts";
import type { Section } from "./section.ts";
import { elsewhereProblems } from "./sections/mdm-rules.ts";

/** Read-only parts of the reply. A change may contain them as they are shown, because clients send back what they received. */
export const readOnly: Readonly<Record<string, string>> = {
  license: "the license key determines it (SVC_LICENSE_KEY)",
  logging: "the server's own settings determine it (SVC_LOG_LEVEL, SVC_RESULT_LOG ...)",
  update_interval: "the server's own settings determine it (SVC_DETAIL_INTERVAL, SVC_POLICY_INTERVAL)",
  vulnerabilities: "the server's own settings determine it; vulnerability_settings can be changed",
  scripts: "POST /scripts/batch takes scripts, and svc apply those of files",
};

/** Whether every value in `part` is the same in `whole`. */
export const isPartOf = (part: unknown, whole: unknown): boolean =>
  isRecord(part) && isRecord(whole)
    ? Object.entries(part).every(([key, value]) => isPartOf(value, whole[key]))
    : isDeepStrictEqual(part, whole);

export interface ChangeOptions {
  /** Skips the sections' checks of their input. */
  readonly force: boolean;
  /** Resets fields that are not given to their defaults: in every section, or only in these. */
  readonly overwrite: boolean | ReadonlySet<string>;
  readonly premium: boolean;
  /** Why the premium tier is off, if there is a more precise reason than a missing license. */
  readonly license?: string;
  /** Checks the rules that involve several sections. */
  readonly between?: (change: {
    readonly before: SectionValues;
    readonly after: SectionValues;
    readonly change: Record<string, unknown>;
  }) => FieldError[];
}

export type SectionValues = ReadonlyMap<string, object>;

/**
 * All sections after the change: sections and fields that are not given, or null, stay as they are. 400 for unknown
 * keys and wrong types, 422 for violated rules.
 */
export function changed(
  sections: readonly Section[],
  before: SectionValues,
  change: Record<string, unknown>,
  options: ChangeOptions,
): Map<string, object> {
  checkKeys(sections, change);
  const sent = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== null));
  const errors: FieldError[] = [];
  const after = new Map(
    sections.map((section): [string, object] => {
      const old = before.get(section.name) ?? section.defaults;
      const { overwrite } = options;
      const isReset = typeof overwrite === "boolean" ? overwrite : overwrite.has(section.name);
      const base = isReset ? reset(section, old) : old;
      if (sent[section.name] === undefined) return [section.name, base];
      const changed = changedSection(section, { base, old, isReset, change: sent[section.name] }, options);
      errors.push(...within(section.name, changed.errors));
      return [section.name, changed.value];
    }),
  );
  errors.push(...(options.between?.({ before, after, change: sent }) ?? []));
  if (errors.length > 0) throw invalidFields(errors);
  return after;
}

/** 400 for unknown keys at every depth. Agent options have rules of their own. */
function checkKeys(sections: readonly Section[], change: Record<string, unknown>): void {
  const byName = new Map(sections.map((section) => [section.name, section]));
  const names = [...byName.keys(), ...Object.keys(readOnly)];
  const unknown = Object.entries(change).flatMap(([name, value]) => {
    const section = byName.get(name);
    if (section === undefined) return names.includes(name) ? [] : [{ path: [name], candidates: names }];
    return section.whole ? [] : unknownKeys(section.schema, spelledFor(section, value), [name]);
  });
  if (unknown.length > 0) throw unsupported("key", unknown);
}

const spelledFor = (section: Section, change: unknown): unknown =>
  isRecord(change) ? section.respell(change) : change;

/** The defaults, except that read-only fields keep their values. */
const reset = (section: Section, old: object): object =>
  Object.keys(section.returned).reduce((left, path) => withPath(left, path, getPath(old, path)), section.defaults);

function changedSection(
  section: Section,
  { base, old, isReset, change }: { base: object; old: object; isReset: boolean; change: unknown },
  options: ChangeOptions,
): { value: object; errors: FieldError[] } {
  const spelled = spelledFor(section, change);
  const shown = Object.keys(section.returned).reduce((left, path) => without(left, path), spelled);
  const sent = section.whole ? withoutNullFields(shown) : withoutUnset(section.schema, shown);
  const { input, errors } = unmasked(section, sent, old);
  section.checkInput(input, options);
  const merged = section.whole
    ? replaced(section, isReset || !isRecord(input) ? input : { ...old, ...input }, options)
    : (merge(section.schema, base, input, section.name) as object);
  const value = section.complete(merged, input, old);
  errors.push(
    ...readOnlyErrors(section, spelled, old),
    ...elsewhereProblems(section.elsewhere, spelled, old),
    ...premiumErrors(section, { sent, old }, options),
    ...rebound(section, sent, value, old),
    ...section.check(value),
  );
  return { value, errors };
}

function readOnlyErrors({ returned }: Section, change: unknown, old: object): FieldError[] {
  return Object.entries(returned).flatMap(([name, why]) => {
    const value = getPath(change, name) ?? undefined;
    return value === undefined || isDeepStrictEqual(value, getPath(old, name))
      ? []
      : [{ name, reason: `is read-only: ${why}` }];
  });
}

const withoutNullFields = (value: unknown): unknown =>
  isRecord(value) ? Object.fromEntries(Object.entries(value).filter(([, field]) => field !== null)) : value;

function replaced(section: Section, value: unknown, options: ChangeOptions): object {
  if (!isRecord(value)) throw wrongType(section.name, "object", value);
  // What is checked as a whole, such as the size. The stored fields were checked when they were set.
  section.checkInput(value, { ...options, force: true });
  return section.schema.parse(value);
}

/**
 * On the free tier, a change may set premium fields only to an off value, to their default or to their current value.
 */
function premiumErrors(
  section: Section,
  { sent, old }: { sent: unknown; old: object },
  { premium, license }: ChangeOptions,
): FieldError[] {
  if (premium) return [];
  const reason = `missing or invalid license${license === undefined ? "" : `: ${license}`}`;
  return section.premium
    .filter((path) => {
      const value = getPath(sent, path);
      const same = [getPath(old, path), getPath(section.defaults, path)];
      return !isOff(value) && !same.some((stored) => isDeepStrictEqual(value, stored));
    })
    .map((name) => ({ name, reason }));
}

const isOff = (value: unknown): boolean => value === undefined || value === null || value === false || value === "";
