// Documents of the older format that contain settings.

import type { z } from "zod";
import { isRecord } from "../../text/record.ts";
import type { CheckOptions } from "./check.ts";
import type { Value } from "./overlay.ts";
import type { Place } from "./problems.ts";
import { checkNoFiles, type Report, reporterOf } from "./rules.ts";
import type { SecretTexts } from "./secrets.ts";
import { checked, wholeControls } from "./section-values.ts";
import { type Mapping, placeOf, subtree } from "./tree.ts";

/** The content of one document about a team, or about the organization (`name` is null). */
export interface Spec {
  readonly name: string | null;
  readonly at: Place;
  /** Sections by name; `mdm` contains the fields of controls. Sections that are absent are not changed. */
  readonly settings: Value;
}

export const teamNameOf = (name: unknown): string => String(name).normalize("NFC").trim();

export interface Reading {
  readonly secrets: SecretTexts;
  readonly options: CheckOptions;
}

/** Null, with the problems reported, if the document does not match. */
export function readSpec(
  schema: z.ZodType,
  tree: Mapping,
  called: string,
  { secrets, options }: Reading,
  rules?: (value: Value, report: Report) => void,
): Pick<Spec, "at" | "settings"> | null {
  const value = checked(schema, tree, called, options);
  if (!value) return null;
  rules?.(value, reporterOf(tree, called, options.problems));
  const settings = secrets.ofSettings(value, tree, called);
  const { mdm } = settings;
  if (isRecord(mdm)) checkNoFiles(mdm, reporterOf(tree, called, options.problems));
  const controls = isRecord(mdm) ? { mdm: wholeControls(mdm, subtree(tree, ["mdm"]), `${called}.mdm`, options) } : {};
  return { at: placeOf(tree, ["name"]), settings: { ...settings, ...controls } };
}
