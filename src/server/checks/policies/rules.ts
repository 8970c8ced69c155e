// Validation rules of policies, with the API's error messages.
import { allPolicyFields, type PolicyChanges, policyPlatforms } from "../../../api/checks/policies.ts";
import { fallbacksOf, fieldNames, pickSet, premiumNames } from "../../../api/plain-fields.ts";
import { sqlProblem } from "../../../sql/syntax.ts";
import type { LabelRule } from "../../hosts/labels/targeting.ts";
import { type Context, isPremium } from "../../platform/core/context.ts";
import { badRequest, premiumOption } from "../../platform/core/errors.ts";
import { inTeam } from "../../platform/core/security/access.ts";
import { and, eq } from "../../platform/store/query.ts";
import type { Place, PolicyRow } from "./applies.ts";

export const refused = (why: string, field = "base") => badRequest(`policy payload verification: ${why}`, field);

function checkedPolicyName(input: string | undefined): string {
  const name = (input ?? "").normalize("NFC").trim();
  if (name === "") throw refused("policy name cannot be empty", "name");
  return name;
}

function checkedQuery(sql: string | undefined): string {
  if (sql === undefined || sql.trim() === "") throw refused("policy query cannot be empty", "query");
  const problem = sqlProblem(sql);
  if (problem !== null) throw refused(problem, "query");
  return sql;
}

function checkedPlatform(list: string): string {
  const words = list
    .split(",")
    .map((word) => word.trim())
    .filter((word) => word !== "");
  const allowed: readonly string[] = policyPlatforms;
  if (words.some((word) => !allowed.includes(word)))
    throw refused(`platform must be a comma-separated list of ${policyPlatforms.join(", ")}`, "platform");
  return [...new Set(words)].join(",");
}

type CheckedFields = Omit<PolicyChanges, "name" | "query">;

export interface LabelsInput {
  readonly names: readonly string[];
  readonly rule: LabelRule;
}

const labelRules: readonly LabelRule[] = ["include_any", "include_all", "exclude_any"];

/** The labels by which a payload restricts the policy; undefined if it does not mention labels. */
export function labelsInput(input: CheckedFields): LabelsInput | undefined {
  const lists = labelRules.flatMap((rule) => {
    const names = input[`labels_${rule}`] ?? undefined;
    return names === undefined ? [] : [{ names, rule }];
  });
  const [list, other] = lists.filter(({ names }) => names.length > 0);
  if (list && other)
    throw refused(`only one of labels_${list.rule} and labels_${other.rule} may be given`, `labels_${other.rule}`);
  return list ?? (lists.length > 0 ? { names: [], rule: "include_any" } : undefined);
}

/** 400 for options that require a premium license. */
export function checkTier(ctx: Context, input: CheckedFields): void {
  if (isPremium(ctx)) return;
  for (const field of premiumNames(allPolicyFields)) if (input[field]) throw premiumOption(field);
  for (const field of ["labels_include_any", "labels_include_all", "labels_exclude_any"] as const)
    if (input[field]?.length) throw premiumOption(field);
}

/** What the policy does with failing hosts, such as a package that they install, must belong to the policy's team. */
export async function checkAutomations(
  { store }: Context,
  { scope, team_id }: Place,
  input: CheckedFields,
): Promise<void> {
  const title = input.software_title_id ?? 0;
  const script = input.script_id ?? 0;
  if (title > 0) {
    if (scope === "global") throw refused("software_title_id cannot be set on a global policy", "software_title_id");
    const ofTeam = and(inTeam(team_id ?? 0), eq("title_id", title));
    // Store apps count for Macs alone, because only these answer policies.
    const offered =
      (await store.softwareInstallers.count(ofTeam)) +
      (await store.storeApps.count(and(ofTeam, eq("platform", "darwin"))));
    // Unknown titles get the same reply: those of other teams are none of the caller's business.
    if (offered === 0)
      throw refused(`the team has no package or app of the software title ${title} to install`, "software_title_id");
  }
  if (script > 0) {
    if (scope === "global") throw refused("script_id cannot be set on a global policy", "script_id");
    if ((await store.scripts.count(and(inTeam(team_id ?? 0), eq("id", script)))) === 0)
      throw refused(`script ${script} does not exist in the team`, "script_id");
  }
  const profile = input.resend_profile_uuid ?? "";
  if (profile !== "") {
    const field = "resend_profile_uuid";
    if (scope === "global") throw refused(`${field} cannot be set on a global policy`, field);
    const ofTeam = and(inTeam(team_id ?? 0), eq("uuid", profile), eq("is_own", false));
    if ((await store.configurationProfiles.count(ofTeam)) === 0)
      throw refused(`configuration profile ${profile} does not exist in the team`, field);
  }
}

const plainNames = fieldNames(allPolicyFields);
/** What a policy does with failing hosts. Requests clear one with 0 or an empty text. */
const automations = ["software_title_id", "script_id", "resend_profile_uuid"] as const;
/** The columns that follow from requests. */
export const policyColumns = [
  "name",
  "query",
  "platform",
  "catalogue_app_id",
  ...automations,
  ...plainNames,
] as const satisfies readonly (keyof PolicyRow)[];
export type Columns = Pick<PolicyRow, (typeof policyColumns)[number]>;

/** The validated columns that a payload sets, without those of patch policies that follow from their app (patch.ts). */
export function columnsOf(input: PolicyChanges): Partial<Columns> {
  const set: Partial<Columns> = pickSet(input, plainNames);
  if (input.name !== undefined) set.name = checkedPolicyName(input.name);
  if (input.query !== undefined && input.type !== "patch") set.query = checkedQuery(input.query);
  if (input.platform !== undefined) set.platform = checkedPlatform(input.platform);
  if (input.software_title_id !== undefined) set.software_title_id = input.software_title_id || null;
  if (input.script_id !== undefined) set.script_id = input.script_id || null;
  if (input.resend_profile_uuid !== undefined) set.resend_profile_uuid = input.resend_profile_uuid || null;
  return set;
}

/** All columns; those missing from the payload get their defaults. */
export const wholeColumns = (input: PolicyChanges): Columns => ({
  platform: "",
  software_title_id: null,
  script_id: null,
  resend_profile_uuid: null,
  catalogue_app_id: null,
  ...fallbacksOf(allPolicyFields),
  ...columnsOf(input),
  name: checkedPolicyName(input.name),
  query: input.type === "patch" ? "" : checkedQuery(input.query),
});

/**
 * Whether the change invalidates existing results. A new automation does, so that it runs for hosts failing already.
 */
export function outdatesResults(before: PolicyRow, set: Partial<Columns>): boolean {
  const differs = (column: keyof Columns) => set[column] !== undefined && set[column] !== before[column];
  const isNew = (column: (typeof automations)[number]) => differs(column) && set[column] !== null;
  return differs("query") || differs("platform") || automations.some(isNew);
}
