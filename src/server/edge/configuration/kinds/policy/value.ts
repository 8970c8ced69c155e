import { z } from "zod";
import { allPolicyFields, PolicySpec, policyPlatforms } from "../../../../../api/checks/policies.ts";
import { isOneLine, NOT_ONE_LINE } from "../../../../../api/fields.ts";
import { fieldNames, pick } from "../../../../../api/plain-fields.ts";
import type { WebhookSettings } from "../../../../../api/settings/app-config.ts";
import { NO_TEAM_NAME } from "../../../../../api/settings/no-team.ts";
import type { PolicyRow, PolicyScope } from "../../../../checks/policies/applies.ts";
import {
  type Columns,
  checkTier,
  type LabelsInput,
  labelsInput,
  wholeColumns,
} from "../../../../checks/policies/rules.ts";
import type { LabelRule } from "../../../../hosts/labels/targeting.ts";
import { type Context, isPremium } from "../../../../platform/core/context.ts";
import { invalid } from "../../../../platform/core/errors.ts";
import type { RequestedChange } from "../../changes.ts";
import { namesOf, parsed, platformsOf } from "../../parse.ts";
import type { SharedRows } from "../../shared-rows.ts";
import type { Thing } from "../../values.ts";
import { placeOf } from "../package/rows.ts";

const {
  name: _name,
  team: _team,
  software_title_id: _title,
  script_id: _script,
  resend_profile_uuid: _profile,
  install_software: _installs,
  ...fields
} = PolicySpec.shape;
const PolicyValue = z.strictObject({
  ...fields,
  webhooks_and_tickets_enabled: z.boolean().optional(),
  /** The name of a script of the policy's team. */
  run_script: z.string().min(1).max(255).nullish(),
  /** The name of a profile of the policy's team. */
  resend_configuration_profile: z.string().min(1).max(255).nullish(),
  /** The name of a package of the policy's team, or the number of a store app, which Macs get. Patch policies: true. */
  install_software: z
    .union([
      z.literal(true),
      z.strictObject({ package: z.string().min(1).max(1024) }),
      z.strictObject({ app_store_id: z.string().regex(/^\d{1,20}$/) }),
    ])
    .nullish(),
});
export type InstalledSoftware = Exclude<z.output<typeof PolicyValue>["install_software"], true | null | undefined>;

/** Software, scripts, profiles and maintained apps are named, not given by their ids. */
export type PolicyColumns = Omit<
  Columns,
  "software_title_id" | "script_id" | "resend_profile_uuid" | "catalogue_app_id"
>;

export interface DesiredPolicy {
  readonly columns: PolicyColumns;
  readonly labels: LabelsInput;
  readonly isReported: boolean;
  readonly run_script: string | null;
  readonly resend_configuration_profile: string | null;
  readonly install_software: InstalledSoftware | true | null;
  /** Slug of the app of a patch policy; else empty. */
  readonly svc_maintained_app_slug: string;
}

const plainNames = fieldNames(allPolicyFields);

type Labels = { readonly [rule in LabelRule]: readonly string[] };
const noLabels: Labels = { include_any: [], include_all: [], exclude_any: [] };

const policyValue = (
  columns: Omit<PolicyColumns, "name">,
  labels: Labels,
  {
    isReported,
    run_script,
    resend_configuration_profile,
    install_software,
    svc_maintained_app_slug,
  }: Omit<DesiredPolicy, "columns" | "labels">,
) => ({
  // The query of a patch policy follows from its app.
  query: columns.type === "patch" ? "" : columns.query,
  ...pick(columns, plainNames),
  platform: columns.type === "patch" ? "" : platformsOf(policyPlatforms, columns.platform),
  labels_include_any: [...labels.include_any].sort(),
  labels_include_all: [...labels.include_all].sort(),
  labels_exclude_any: [...labels.exclude_any].sort(),
  svc_maintained_app_slug,
  webhooks_and_tickets_enabled: isReported,
  run_script,
  resend_configuration_profile,
  install_software,
});

export const desiredPolicyValue = ({ columns, labels, ...rest }: DesiredPolicy) => {
  const names = [...new Set(labels.names.map((name) => name.normalize("NFC").trim()))];
  return policyValue(columns, { ...noLabels, [labels.rule]: names }, rest);
};

export interface PolicyRows {
  readonly policies: readonly PolicyRow[];
  readonly labels: ReadonlyMap<number, PolicyScope>;
  /** The names of the scripts that policies run. */
  readonly scripts: ReadonlyMap<number, string>;
  /** The profiles that policies send again, by their uuids. */
  readonly profiles: ReadonlyMap<string, { readonly name: string }>;
  /** The slugs of the maintained apps of patch policies, by the ids of the apps. */
  readonly slugs: ReadonlyMap<number, string>;
  /** What policies install, by its team and title (`placeOf`). */
  readonly software: ReadonlyMap<string, InstalledSoftware>;
}

export function* policyThings(
  { policies, labels, scripts, profiles, slugs, software }: PolicyRows,
  shared: SharedRows,
): Generator<Thing> {
  const isReported = reportedPolicies(shared);
  const teams = new Map(shared.teams.map(({ id, name }) => [id, name]));
  const names = new Map(shared.labels.map(({ id, name }) => [id, name]));
  for (const row of policies) {
    const scope = labels.get(row.id);
    yield {
      kind: "policy",
      owner: ownerOf(row, teams),
      name: row.name,
      value: policyValue(
        row,
        {
          include_any: namesOf(scope?.include_any, names),
          include_all: namesOf(scope?.include_all, names),
          exclude_any: namesOf(scope?.exclude_any, names),
        },
        {
          isReported: isReported(row),
          run_script: scripts.get(row.script_id ?? 0) ?? null,
          resend_configuration_profile: profiles.get(row.resend_profile_uuid ?? "")?.name ?? null,
          install_software:
            row.type === "patch" ? row.software_title_id !== null || null : (software.get(softwarePlace(row)) ?? null),
          svc_maintained_app_slug: slugs.get(row.catalogue_app_id ?? 0) ?? "",
        },
      ),
    };
  }
}

const softwarePlace = ({ team_id, software_title_id }: PolicyRow): string =>
  placeOf({ team_id, title_id: software_title_id ?? 0 });

export const ownerOf = ({ scope, team_id }: PolicyRow, teams: ReadonlyMap<number, string>): string | null =>
  scope === "global" ? null : scope === "no_team" ? NO_TEAM_NAME : teams.get(team_id!)!;

/** Whether the failing-policies webhook or ticket automation of the policy's scope includes it. */
export function reportedPolicies({ sections, noTeam, teams }: SharedRows): (row: PolicyRow) => boolean {
  const idsOf = (hooks: { failing_policies_webhook: { policy_ids: readonly number[] } } | undefined) =>
    new Set(hooks?.failing_policies_webhook.policy_ids);
  const global = idsOf(sections?.get("webhook_settings") as WebhookSettings | undefined);
  const none = idsOf(noTeam?.webhook_settings);
  const ofTeams = new Map(teams.map(({ id, settings }) => [id, idsOf(settings.webhook_settings)]));
  return ({ id, scope, team_id }) =>
    (scope === "global" ? global : scope === "no_team" ? none : ofTeams.get(team_id!))?.has(id) ?? false;
}

export function readPolicy(ctx: Context, { name, owner, value, action }: RequestedChange): DesiredPolicy {
  const {
    webhooks_and_tickets_enabled: isReported,
    run_script = null,
    resend_configuration_profile = null,
    install_software = null,
    ...fields
  } = parsed(PolicyValue, value);
  if (run_script !== null && owner === null) throw invalid("run_script", "a global policy cannot run a script");
  if (install_software !== null && owner === null)
    throw invalid("install_software", "a global policy cannot install software");
  if (resend_configuration_profile !== null && owner === null)
    throw invalid("resend_configuration_profile", "a global policy cannot send a profile again");
  const isPatch = fields.type === "patch";
  if ((install_software === true) !== (isPatch && install_software !== null))
    throw invalid("install_software", "is true only for policies of the type patch, which install their app");
  if (fields.patch_when_closed && fields.continuous_automations_enabled === false)
    throw invalid("continuous_automations_enabled", "cannot be false with patch_when_closed");
  // Files that mark policies as critical still apply on the free tier.
  const spec = isPremium(ctx) ? fields : { ...fields, critical: false };
  checkTier(ctx, spec);
  const {
    software_title_id: _software,
    script_id: _id,
    resend_profile_uuid: _uuid,
    catalogue_app_id: _app,
    ...columns
  } = wholeColumns({
    ...spec,
    continuous_automations_enabled: Boolean(spec.patch_when_closed || spec.continuous_automations_enabled),
    name,
  });
  if (action === "create" && !isOneLine(name)) throw invalid("change.name", NOT_ONE_LINE);
  if (columns.name !== name) throw invalid("change.name", "must be in Unicode NFC, without surrounding spaces");
  return {
    columns,
    labels: labelsInput(spec) ?? { names: [], rule: "include_any" },
    isReported: isReported ?? false,
    run_script,
    resend_configuration_profile,
    install_software,
    svc_maintained_app_slug: spec.svc_maintained_app_slug ?? "",
  };
}
