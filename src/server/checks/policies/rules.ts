// Validation rules of policies, with the API's error messages.
import { type PolicyChanges, policyPlatforms } from "../../../api/checks/policies.ts";
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
  if (input.critical) throw premiumOption("critical");
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

export type Columns = Pick<
  PolicyRow,
  | "name"
  | "query"
  | "description"
  | "resolution"
  | "platform"
  | "critical"
  | "calendar_events_enabled"
  | "conditional_access_enabled"
  | "software_title_id"
  | "script_id"
  | "resend_profile_uuid"
  | "continuous_automations_enabled"
  | "type"
  | "catalogue_app_id"
  | "patch_when_closed"
  | "notify_before_patching"
>;

/** The validated columns that a payload sets, without those of patch policies that follow from their app (patch.ts). */
export function columnsOf(input: PolicyChanges): Partial<Columns> {
  const set: Partial<Columns> = {};
  if (input.name !== undefined) set.name = checkedPolicyName(input.name);
  if (input.query !== undefined && input.type !== "patch") set.query = checkedQuery(input.query);
  if (input.description !== undefined) set.description = input.description;
  if (input.resolution !== undefined) set.resolution = input.resolution;
  if (input.platform !== undefined) set.platform = checkedPlatform(input.platform);
  if (input.critical !== undefined) set.critical = input.critical;
  if (input.calendar_events_enabled !== undefined) set.calendar_events_enabled = input.calendar_events_enabled;
  if (input.conditional_access_enabled !== undefined) set.conditional_access_enabled = input.conditional_access_enabled;
  if (input.software_title_id !== undefined) set.software_title_id = input.software_title_id || null;
  if (input.script_id !== undefined) set.script_id = input.script_id || null;
  if (input.resend_profile_uuid !== undefined) set.resend_profile_uuid = input.resend_profile_uuid || null;
  if (input.continuous_automations_enabled !== undefined)
    set.continuous_automations_enabled = input.continuous_automations_enabled;
  if (input.type !== undefined) set.type = input.type;
  if (input.patch_when_closed !== undefined) set.patch_when_closed = input.patch_when_closed;
  if (input.notify_before_patching !== undefined) set.notify_before_patching = input.notify_before_patching;
  return set;
}

/** All columns; those missing from the payload get their defaults. */
export const wholeColumns = (input: PolicyChanges): Columns => ({
  description: "",
  resolution: "",
  platform: "",
  critical: false,
  calendar_events_enabled: false,
  conditional_access_enabled: false,
  software_title_id: null,
  script_id: null,
  resend_profile_uuid: null,
  continuous_automations_enabled: false,
  type: "dynamic",
  catalogue_app_id: null,
  patch_when_closed: false,
  notify_before_patching: false,
  ...columnsOf(input),
  name: checkedPolicyName(input.name),
  query: input.type === "patch" ? "" : checkedQuery(input.query),
});

/**
 * Whether the change invalidates existing results. A new automation does, so that it runs for hosts failing already.
 */
export function outdatesResults(before: PolicyRow, set: Partial<Columns>): boolean {
  const differs = (column: keyof Columns) => set[column] !== undefined && set[column] !== before[column];
  const isNew = (column: "software_title_id" | "script_id" | "resend_profile_uuid") =>
    differs(column) && set[column] !== null;
  return (
    differs("query") ||
    differs("platform") ||
    isNew("software_title_id") ||
    isNew("script_id") ||
    isNew("resend_profile_uuid")
  );
}
