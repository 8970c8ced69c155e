// What a change request makes of the sections: pure, so that a dry run is the same without the writing.
import { MASK } from "../../api/fields.ts";
import { type FieldError, invalidFields } from "../core/errors.ts";
import { getPath, isObject, merge, unsupportedKey, within, withPath, wrongType } from "./merge.ts";
import type { Section } from "./section.ts";

/** Parts of the reply that cannot be changed: a client that sends back what it got is not refused for them. */
const readOnly = new Set(["license", "logging", "update_interval"]);

export interface ChangeOptions {
  /** Skips the checks that a section makes of its input. */
  readonly force: boolean;
  /** What is not given goes back to its default, in every section. */
  readonly overwrite: boolean;
  readonly premium: boolean;
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
  const after = sections.map((section): [string, object] => {
    const input = given[section.name];
    const old = before.get(section.name) ?? section.defaults;
    const base = options.overwrite ? section.defaults : old;
    if (input === undefined) return [section.name, base];
    const value = changedSection(section, base, unmasked(section, input, old), options);
    errors.push(...within(section.name, [...premiumErrors(section, input, options), ...section.check(value)]));
    return [section.name, value];
  });
  if (errors.length > 0) throw invalidFields(errors);
  return new Map(after);
}

function changedSection(section: Section, base: object, input: unknown, options: ChangeOptions): object {
  section.checkInput(input, options);
  if (!section.whole) return merge(section.schema, base, input, section.name) as object;
  if (!isObject(input)) throw wrongType(section.name, "object", input);
  return section.schema.parse(input);
}

/** A mask that comes back stands for the secret that is kept. */
function unmasked(section: Section, input: unknown, old: object): unknown {
  return section.secrets.reduce(
    (left, path) => (getPath(left, path) === MASK ? withPath(left, path, getPath(old, path)) : left),
    input,
  );
}

/** Fields of the premium tier may be given on the free one only as what turns them off. */
const premiumErrors = (section: Section, input: unknown, { premium }: ChangeOptions): FieldError[] =>
  premium
    ? []
    : section.premium
        .filter((path) => ![undefined, null, false, "", 0].includes(getPath(input, path) as never))
        .map((name) => ({ name, reason: "missing or invalid license" }));

/** The section with its secrets masked. */
export const masked = (section: Section, value: object): object =>
  section.secrets.reduce((left, path) => (getPath(left, path) ? withPath(left, path, MASK) : left), value);
