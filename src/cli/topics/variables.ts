// Custom variables and custom host vitals: their lists, and how commands find them.
import * as Flags from "@oclif/core/flags";
import {
  CustomHostVital,
  CustomVariable,
  MASKED_FROM,
  SECRET_PREFIX,
  type VariableScope,
  type VariableUse,
  variableDefaultUses,
  variableUses,
} from "../../api/settings/variables.ts";
import { notFound } from "../errors.ts";
import { secretFlags } from "../files/input.ts";
import { args, isNoTeam } from "../flags.ts";
import type { View } from "../output/output.ts";
import { timeColumn } from "../output/time-column.ts";

export const variableArg = args.required("id or name of the variable");
export const vitalArg = args.required("id or name of the vital");
export const valueFlags = secretFlags("value", "the value");

/** Where a variable may be used. */
export const scopeFlags = {
  team: Flags.string({
    multiple: true,
    exclusive: ["all-teams"],
    summary: "Team that may use it, by name or id; none: hosts without a team. Repeat it for several teams.",
    helpValue: "TEAM",
  }),
  "all-teams": Flags.boolean({ summary: "Every team may use it (the default of a new variable)." }),
  use: Flags.option({ options: variableUses, multiple: true })({
    summary: `Kind of text that may contain it; repeat it for several. Default of a new variable: ${variableDefaultUses.join(", ")}.`,
  }),
};
interface ScopeFlags {
  readonly team?: readonly string[] | undefined;
  readonly "all-teams": boolean;
  readonly use?: readonly VariableUse[] | undefined;
}

/** What the flags say about the scope. `idOf` finds the id of a team. */
export async function scopeIn(
  flags: ScopeFlags,
  idOf: (team: string) => Promise<number>,
): Promise<Partial<VariableScope>> {
  const scope: Partial<VariableScope> = {};
  if (flags["all-teams"]) scope.team_ids = null;
  if (flags.team !== undefined) {
    scope.team_ids = [];
    for (const team of flags.team) scope.team_ids.push(isNoTeam(team) ? 0 : await idOf(team));
  }
  if (flags.use !== undefined) scope.uses = [...flags.use];
  return scope;
}

export const SCOPE =
  "Whoever may write a text that hosts run can read the values in it. A variable is therefore for certain teams and kinds of texts. In scripts that are not saved, " +
  "only those who may change custom variables can use it, unless one_off_scripts is among its uses.";

export const MASKING = `Outputs of scripts that repeat the value are masked if it has at least ${MASKED_FROM} characters.`;

/** Null: outputs that repeat the value are masked. */
export const notMasked = (name: string, value: unknown): string | null =>
  typeof value === "string" && value.trim().length < MASKED_FROM
    ? `the value of ${name} has fewer than ${MASKED_FROM} characters: outputs of scripts that repeat it are not masked`
    : null;

export const variableView = (relative: boolean, now: Date): View => ({
  schema: () => CustomVariable,
  columns: [
    { key: "id" },
    { key: "name" },
    { key: "team_ids", header: "team ids", text: (ids) => (Array.isArray(ids) ? ids.join(", ") || "none" : "all") },
    { key: "uses" },
    timeColumn("updated_at", "changed", relative, now),
  ],
});
export const vitalView = (relative: boolean, now: Date): View => ({
  schema: () => CustomHostVital,
  columns: [{ key: "id" }, { key: "name" }, timeColumn("updated_at", "changed", relative, now)],
});

/** By name, with or without the prefix, or by id. */
export function variableNamed(all: readonly CustomVariable[], text: string): CustomVariable {
  const name = text.startsWith(SECRET_PREFIX) ? text.slice(SECRET_PREFIX.length) : text;
  const match = all.find((variable) => variable.name === name) ?? all.find(({ id }) => String(id) === text);
  if (match) return match;
  throw notFound(`there is no custom variable ${text}`, "`svc variables list` shows them.");
}

/** By name or id. */
export function vitalNamed(all: readonly CustomHostVital[], text: string): CustomHostVital {
  const name = text.toLowerCase();
  const match = all.find((vital) => vital.name.toLowerCase() === name) ?? all.find(({ id }) => String(id) === text);
  if (match) return match;
  throw notFound(`there is no custom host vital ${text}`, "`svc vitals list` shows them.");
}
