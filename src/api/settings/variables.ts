// Custom variables: secrets that users name in scripts and profiles. Custom host vitals: facts about hosts.
import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import {
  Empty,
  Id,
  IdParam,
  isOneLine,
  Meta,
  NOT_ONE_LINE,
  nameText,
  pagingAfter,
  QueryText,
  Timestamp,
  unchanged,
} from "../fields.ts";

/** The kinds of texts in which a custom variable may be used. */
export const variableUses = ["scripts", "one_off_scripts", "software", "profiles", "host_names"] as const;
export type VariableUse = (typeof variableUses)[number];
/** Scripts that are not saved are not among them: whoever may run one could print the value. */
export const variableDefaultUses: readonly VariableUse[] = ["scripts", "software", "profiles", "host_names"];

const VariableScope = z.object({
  team_ids: z
    .array(z.int().nonnegative())
    .max(10_000)
    .nullable()
    .meta({ description: "teams that may use it, 0 for hosts without a team; null: all" }),
  uses: z
    .array(z.enum(variableUses))
    .max(variableUses.length)
    .meta({
      description: `where it may be used; default: ${variableDefaultUses.join(", ")}. Whoever may change custom variables may use it in any script`,
    }),
});
export type VariableScope = z.output<typeof VariableScope>;

export const CustomVariable = VariableScope.extend({
  id: Id,
  name: z.string().meta({ description: "without the prefix SVC_SECRET_" }),
  created_at: Timestamp,
  updated_at: Timestamp,
});
export type CustomVariable = z.infer<typeof CustomVariable>;

export const CustomHostVital = z.object({ id: Id, name: z.string(), created_at: Timestamp, updated_at: Timestamp });
export type CustomHostVital = z.infer<typeof CustomHostVital>;

/** What names of custom variables begin with in texts and in the environment. */
export const SECRET_PREFIX = "SVC_SECRET_";

/** What no format of profiles can contain. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that XML 1.0 does not allow.
const NOT_TEXT = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/u;
export const VariableValue = z
  .string()
  .min(1)
  .max(64 * 1024)
  .refine((text) => !NOT_TEXT.test(text), { error: "must not contain control characters but tabs and line breaks" });
/** Values with fewer characters are not masked in outputs: they would be found in any text. */
export const MASKED_FROM = 4;
export const VitalName = nameText().trim().min(1);
const VITALS_MAX = 1_000;

export type SecretVariable = z.output<typeof SecretVariable>;
export const SecretVariable = z.object({
  name: z
    .string()
    .max(300)
    .meta({ description: `with or without the prefix ${SECRET_PREFIX}` }),
  value: VariableValue,
  ...VariableScope.partial().shape,
});

const readVariables = { action: "variables:read", scope: "team" } as const;
const writeVariables = { action: "variables:write", scope: "global" } as const;
const params = z.object({ id: IdParam });

export const variablesApi = {
  list: endpoint({
    method: "GET",
    path: "/custom_variables",
    summary: "List custom variables, without their values.",
    access: readVariables,
    query: pagingAfter("name", "id", "updated_at"),
    response: z.object({ custom_variables: z.array(CustomVariable), meta: Meta, count: z.int() }),
  }),
  create: endpoint({
    method: "POST",
    path: "/custom_variables",
    summary: "Create a custom variable: a secret that scripts and profiles name.",
    access: writeVariables,
    body: VariableScope.partial().extend({ name: z.string().max(255), value: VariableValue }),
    response: z.object({ id: Id, name: z.string() }),
  }),
  modify: endpoint({
    method: "PATCH",
    path: "/custom_variables/:id",
    summary: "Change the value of a custom variable, or where it may be used. What is left out stays.",
    access: writeVariables,
    params,
    body: VariableScope.partial().extend({ value: VariableValue.optional(), name: unchanged(z.string()) }),
    response: z.object({ custom_variable: CustomVariable }),
  }),
  delete: endpoint({
    method: "DELETE",
    path: "/custom_variables/:id",
    summary: "Delete a custom variable that nothing uses.",
    access: writeVariables,
    params,
    response: Empty,
  }),
  apply: endpoint({
    method: "PUT",
    path: "/spec/secret_variables",
    summary: "Create custom variables, or change the values of those that exist, and where they may be used.",
    access: writeVariables,
    body: z.object({ secrets: z.array(SecretVariable).max(10_000), dry_run: z.boolean().optional() }),
    response: Empty,
  }),
};

export const hostVitalsApi = {
  list: endpoint({
    method: "GET",
    path: "/custom_host_vitals",
    summary: "List custom host vitals.",
    access: readVariables,
    query: pagingAfter("name", "id", "updated_at").extend({
      query: QueryText.optional().meta({ description: "searches the names" }),
    }),
    response: z.object({ custom_host_vitals: z.array(CustomHostVital), meta: Meta, count: z.int() }),
  }),
  create: endpoint({
    method: "POST",
    path: "/custom_host_vitals",
    summary: "Define a custom host vital, which each host can have a value of.",
    access: writeVariables,
    body: z.object({ name: VitalName }),
    response: z.object({ custom_host_vital: CustomHostVital }),
  }),
  modify: endpoint({
    method: "PATCH",
    path: "/custom_host_vitals/:id",
    summary: "Rename a custom host vital.",
    access: writeVariables,
    params,
    body: z.object({ name: VitalName }),
    response: z.object({ custom_host_vital: CustomHostVital }),
  }),
  delete: endpoint({
    method: "DELETE",
    path: "/custom_host_vitals/:id",
    summary: "Delete a custom host vital that nothing uses, with its values.",
    access: writeVariables,
    params,
    response: Empty,
  }),
  apply: endpoint({
    method: "PUT",
    path: "/spec/custom_host_vitals",
    summary: "Replace the definitions of all custom host vitals; those that are not listed are deleted.",
    access: writeVariables,
    body: z.object({
      custom_host_vitals: z
        .array(z.object({ name: VitalName }))
        .max(VITALS_MAX)
        .nullish(),
      dry_run: z.boolean().optional(),
    }),
    response: Empty,
  }),
  setValue: endpoint({
    method: "PUT",
    path: "/hosts/:id/custom_host_vitals/:vital_id",
    summary: "Set a host's value of a custom host vital; an empty value removes it.",
    access: { action: "hosts:write_vitals", scope: "team" },
    params: z.object({ id: IdParam, vital_id: IdParam }),
    body: z.object({ value: z.string().max(4_096).refine(isOneLine, { error: NOT_ONE_LINE }) }),
    response: Empty,
  }),
};
