// What a change request makes of the sections: pure, so that a dry run is the same without the writing.
import { isDeepStrictEqual } from "node:util";
import { type FieldError, invalidFields } from "../core/errors.ts";
import { getPath, isObject, merge, unsupportedKey, within, without, withPath, wrongType } from "./merge.ts";
import { rebound, unmasked } from "./secrets.ts";
import type { Section } from "./section.ts";

/** Parts of the reply that cannot be changed: a client that sends back what it got is not refused for them. */
const readOnly = new Set(["license", "logging", "update_interval", "vulnerabilities", "scripts"]);

export interface ChangeOptions {
  /** Skips the checks that a section makes of its input. */
  readonly force: boolean;
  /** What is not given goes back to its default, in every section; or in these only. */
  readonly overwrite: boolean | ReadonlySet<string>;
  readonly premium: boolean;
  /** Why not premium, when there is more to say. */
  readonly license?: string;
  /** Rules that hold between sections. */
  readonly between?: (after: SectionValues, given: Record<string, unknown>) => FieldError[];
}

export type SectionValues = ReadonlyMap<string, object>;

/** All sections as they are after the change; 400 for unknown keys and wrong types, 422 for broken rules. */
export function changed(
  sections: readonly Section[],
  before: SectionValues,
  given: Record<string, unknown>,
  options: ChangeOptions,
): Map<string, object> {
  for (const key of Object.keys(given))
    if (!readOnly.has(key) && !sections.some(({ name }) => name === key)) throw unsupportedKey(key);
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
  errors.push(...(options.between?.(after, given) ?? []));
  if (errors.length > 0) throw invalidFields(errors);
  return after;
}

/** The defaults, with what no change can set. */
const reset = (section: Section, old: object): object =>
  section.returned.reduce((left, path) => withPath(left, path, getPath(old, path)), section.defaults);

function changedSection(
  section: Section,
  { base, old, given }: { base: object; old: object; given: unknown },
  options: ChangeOptions,
): { value: object; errors: FieldError[] } {
  const spelled = isObject(given) ? section.respell(given) : given;
  const sent = section.returned.reduce((left, path) => without(left, path), spelled);
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
  if (!isObject(input)) throw wrongType(section.name, "object", input);
  return section.schema.parse(input);
}

/** Fields of the premium tier may be given on the free one only as what turns them off, or as they are. */
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
