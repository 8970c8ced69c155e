// Computes the sections after a change. Pure, so that a dry run does the same without writing.

import { isDeepStrictEqual } from "node:util";
import { isRecord } from "../../text/record.ts";
import { type FieldError, invalidFields } from "../core/errors.ts";
import { getPath, merge, unsupportedKey, within, without, withoutUnset, withPath, wrongType } from "./merge.ts";
import { rebound, unmasked } from "./secrets.ts";
import type { Section } from "./section.ts";

/** Read-only parts of the reply. They are ignored in a change, so that a client can send back what it received. */
const readOnly = new Set(["license", "logging", "update_interval", "vulnerabilities", "scripts"]);

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
    readonly given: Record<string, unknown>;
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
  for (const key of Object.keys(change))
    if (!readOnly.has(key) && !sections.some(({ name }) => name === key)) throw unsupportedKey(key);
  const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== null));
  const errors: FieldError[] = [];
  const after = new Map(
    sections.map((section): [string, object] => {
      const old = before.get(section.name) ?? section.defaults;
      const { overwrite } = options;
      const isReset = typeof overwrite === "boolean" ? overwrite : overwrite.has(section.name);
      const base = isReset ? reset(section, old) : old;
      if (given[section.name] === undefined) return [section.name, base];
      const changed = changedSection(section, { base, old, given: given[section.name] }, options);
      errors.push(...within(section.name, changed.errors));
      return [section.name, changed.value];
    }),
  );
  errors.push(...(options.between?.({ before, after, given }) ?? []));
  if (errors.length > 0) throw invalidFields(errors);
  return after;
}

/** The defaults, except that read-only fields keep their values. */
const reset = (section: Section, old: object): object =>
  section.returned.reduce((left, path) => withPath(left, path, getPath(old, path)), section.defaults);

function changedSection(
  section: Section,
  { base, old, given }: { base: object; old: object; given: unknown },
  options: ChangeOptions,
): { value: object; errors: FieldError[] } {
  const spelled = isRecord(given) ? section.respell(given) : given;
  const shown = section.returned.reduce((left, path) => without(left, path), spelled);
  const sent = section.whole ? shown : withoutUnset(section.schema, shown);
  const { input, errors } = unmasked(section, sent, old);
  section.checkInput(input, options);
  const merged = section.whole
    ? replaced(section, input)
    : (merge(section.schema, base, input, section.name) as object);
  const value = section.complete(merged, input, old);
  errors.push(
    ...premiumErrors(section, { sent, old }, options),
    ...rebound(section, sent, value, old),
    ...section.check(value),
  );
  return { value, errors };
}

function replaced(section: Section, input: unknown): object {
  if (!isRecord(input)) throw wrongType(section.name, "object", input);
  return section.schema.parse(input);
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
      return !isOff(value) && !same.some((one) => isDeepStrictEqual(value, one));
    })
    .map((name) => ({ name, reason }));
}

const isOff = (value: unknown): boolean => value === undefined || value === null || value === false || value === "";
