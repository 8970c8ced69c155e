// Custom variables and custom host vitals: their lists, and how commands find them.
import { CustomHostVital, CustomVariable, MASKED_FROM, SECRET_PREFIX } from "../../api/variables.ts";
import { notFound } from "../errors.ts";
import { secretFlags } from "../files/input.ts";
import { args } from "../flags.ts";
import type { View } from "../output/output.ts";
import { timeColumn } from "./host.ts";

export const variableArg = args.required("id or name of the variable");
export const vitalArg = args.required("id or name of the vital");
export const valueFlags = secretFlags("value", "the value");

export const MASKING = `Outputs of scripts that repeat the value are masked if it has at least ${MASKED_FROM} characters.`;

/** Null: outputs that repeat the value are masked. */
export const notMasked = (name: string, value: unknown): string | null =>
  typeof value === "string" && value.trim().length < MASKED_FROM
    ? `the value of ${name} has fewer than ${MASKED_FROM} characters: outputs of scripts that repeat it are not masked`
    : null;

const viewOf =
  (schema: View["schema"]) =>
  (relative: boolean, now: Date): View => ({
    schema,
    columns: [{ key: "id" }, { key: "name" }, timeColumn("updated_at", "changed", relative, now)],
  });
export const variableView = viewOf(CustomVariable);
export const vitalView = viewOf(CustomHostVital);

/** By name, with or without the prefix, or by id. */
export function variableNamed(all: readonly CustomVariable[], text: string): CustomVariable {
  const name = text.startsWith(SECRET_PREFIX) ? text.slice(SECRET_PREFIX.length) : text;
  const found = all.find((one) => one.name === name) ?? all.find(({ id }) => String(id) === text);
  if (found) return found;
  throw notFound(`there is no custom variable ${text}`, "`svc variables list` shows them.");
}

/** By name or id. */
export function vitalNamed(all: readonly CustomHostVital[], text: string): CustomHostVital {
  const name = text.toLowerCase();
  const found = all.find((one) => one.name.toLowerCase() === name) ?? all.find(({ id }) => String(id) === text);
  if (found) return found;
  throw notFound(`there is no custom host vital ${text}`, "`svc vitals list` shows them.");
}
