// GitOps mode refuses to apply a plan if it refuses one of the plan's changes by itself.
import type { Context } from "../../platform/core/context.ts";
import { overrideReason } from "../../settings/app-config/gitops-mode.ts";
import { keyOf } from "../configuration/values.ts";
import type { PlanContent } from "./rows.ts";

/** What the endpoints that change objects of a kind change, as GitOps mode calls it. */
const namesOfKinds: Readonly<Record<string, string>> = {
  config: "the configuration",
  certificate_authority: "certificate authorities",
  directory_credentials: "credentials for the directory",
  custom_host_vital: "host vitals",
  label: "labels",
  team: "teams",
  custom_variable: "custom variables",
  agent_options: "agent options",
  team_settings: "teams",
  enroll_secrets: "enroll secrets",
  portal_token: "teams of tokens",
  license_token: "teams of tokens",
  license_agreement: "the setup of devices",
  logo_dark: "the configuration",
  logo_light: "the configuration",
  setup_assistant: "the setup of devices",
  bootstrap_package: "the setup of devices",
  declaration_asset: "profiles",
  configuration_profile: "profiles",
  certificate_template: "certificate templates",
  script: "scripts",
  setup_script: "the setup of devices",
  package: "software",
  store_app: "software",
  setup_order: "the setup of devices",
  policy: "policies",
  query: "queries",
  pack: "packs",
};

/** The reason for which the caller overrides GitOps mode with the plan; null if it needs none. 403 without a reason. */
export function overrideReasonOf(ctx: Context, { request, changes }: PlanContent): Promise<string | null> {
  const changed = new Set(changes.map(keyOf));
  const kinds = request.changes
    // Settings that stay as they are, and those of GitOps mode itself, may be sent.
    .filter((change) => change.kind !== "config" || (change.name !== "gitops" && changed.has(keyOf(change))))
    .map(({ kind }) => nameInGitopsMode(kind));
  return overrideReason(ctx, [...new Set(kinds)]);
}

export const nameInGitopsMode = (kind: string): string => namesOfKinds[kind]!;
