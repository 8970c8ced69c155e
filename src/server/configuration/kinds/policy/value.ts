import { z } from "zod";
import type { WebhookSettings } from "../../../../api/app-config.ts";
import { NO_TEAM_NAME } from "../../../../api/configuration.ts";
import { isOneLine, NOT_ONE_LINE } from "../../../../api/fields.ts";
import { PolicySpec, policyPlatforms } from "../../../../api/policies.ts";
import { type Context, isPremium } from "../../../core/context.ts";
import { invalid } from "../../../core/errors.ts";
import type { LabelScope } from "../../../labels/scope.ts";
import type { PolicyRow } from "../../../policies/applies.ts";
import { type Columns, checkTier, givenLabels, wholeColumns } from "../../../policies/rules.ts";
import type { Given } from "../../changes.ts";
import { namesOf, parsed, platformsOf } from "../../parse.ts";
import type { SharedRows } from "../../shared-rows.ts";
import type { Thing } from "../../values.ts";
import { placeOf } from "../package/rows.ts";

const { name: _name, team: _team, software_title_id: _title, script_id: _script, ...fields } = PolicySpec.shape;
const PolicyValue = z.strictObject({
  ...fields,
  webhooks_and_tickets_enabled: z.boolean().optional(),
  /** The name of a script of the policy's team. */
  run_script: z.string().min(1).max(255).nullish(),
  /** The name of a package of the policy's team, or the number of a store app, which Macs get. */
  install_software: z
    .union([
      z.strictObject({ package: z.string().min(1).max(1024) }),
      z.strictObject({ app_store_id: z.string().regex(/^\d{1,20}$/) }),
    ])
    .nullish(),
});
export type InstalledSoftware = NonNullable<z.output<typeof PolicyValue>["install_software"]>;

/** Software and scripts are named, not given by their ids. */
export type PolicyColumns = Omit<Columns, "software_title_id" | "script_id">;

export interface PolicyWanted {
  readonly columns: PolicyColumns;
  readonly labels: { readonly names: readonly string[]; readonly excludes: boolean };
  readonly isReported: boolean;
  readonly run_script: string | null;
  readonly install_software: InstalledSoftware | null;
}

export const policyValue = (
  columns: Omit<PolicyColumns, "name">,
  labels: { readonly include: readonly string[]; readonly exclude: readonly string[] },
  { isReported, run_script, install_software }: Pick<PolicyWanted, "isReported" | "run_script" | "install_software">,
) => ({
  query: columns.query,
  description: columns.description,
  resolution: columns.resolution,
  platform: platformsOf(policyPlatforms, columns.platform),
  critical: columns.critical,
  labels_include_any: [...labels.include].sort(),
  labels_exclude_any: [...labels.exclude].sort(),
  calendar_events_enabled: columns.calendar_events_enabled,
  conditional_access_enabled: columns.conditional_access_enabled,
  webhooks_and_tickets_enabled: isReported,
  run_script,
  install_software,
});

export const wantedPolicyValue = ({ columns, labels, ...rest }: PolicyWanted) => {
  const names = [...new Set(labels.names.map((name) => name.normalize("NFC").trim()))];
  return policyValue(columns, { include: labels.excludes ? [] : names, exclude: labels.excludes ? names : [] }, rest);
};

export interface PolicyRows {
  readonly policies: readonly PolicyRow[];
  readonly labels: ReadonlyMap<number, LabelScope>;
  /** The names of the scripts that policies run. */
  readonly scripts: ReadonlyMap<number, string>;
  /** What policies install, by its team and title (`placeOf`). */
  readonly software: ReadonlyMap<string, InstalledSoftware>;
}

export function* policyThings(
  { policies, labels, scripts, software }: PolicyRows,
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
        { include: namesOf(scope?.include_any, names), exclude: namesOf(scope?.exclude_any, names) },
        {
          isReported: isReported(row),
          run_script: scripts.get(row.script_id ?? 0) ?? null,
          install_software: software.get(softwarePlace(row)) ?? null,
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

export function readPolicy(ctx: Context, { name, owner, value, action }: Given): PolicyWanted {
  const {
    webhooks_and_tickets_enabled: isReported,
    run_script = null,
    install_software = null,
    ...given
  } = parsed(PolicyValue, value);
  if (run_script !== null && owner === null) throw invalid("run_script", "a global policy cannot run a script");
  if (install_software !== null && owner === null)
    throw invalid("install_software", "a global policy cannot install software");
  // Files that mark policies as critical still apply on the free tier.
  const spec = isPremium(ctx) ? given : { ...given, critical: false };
  checkTier(ctx, spec);
  const { software_title_id: _software, script_id: _id, ...columns } = wholeColumns({ ...spec, name });
  if (action === "create" && !isOneLine(name)) throw invalid("change.name", NOT_ONE_LINE);
  if (columns.name !== name) throw invalid("change.name", "must be in Unicode NFC, without surrounding spaces");
  return {
    columns,
    labels: givenLabels(spec) ?? { names: [], excludes: false },
    isReported: isReported ?? false,
    run_script,
    install_software,
  };
}
