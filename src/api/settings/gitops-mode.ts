// GitOps mode: configuration is changed in files, and requests of people that change it otherwise are refused, because the
// next apply of the files would overwrite the change.
import { z } from "zod";
import type { AnyEndpoint } from "../endpoint.ts";
import { isOneLine } from "../fields.ts";
import type { GitopsExceptions } from "./app-config.ts";

/** Changes something nevertheless. The value is the reason, which is recorded. */
export const GITOPS_OVERRIDE = "X-Svc-Gitops-Override";
const REASON_MAX = 500;

export const GitopsOverrideHeaders = z.object({
  [GITOPS_OVERRIDE]: z
    .string()
    .min(1)
    .optional()
    .meta({
      description: `in GitOps mode, the reason to change what files determine, of at most ${REASON_MAX} characters; it is recorded as an activity. Other text than ASCII is percent-encoded after UTF-8'' (RFC 8187)`,
    }),
});

/** The value of the header, which consists of ASCII only. Null: no such reason is accepted. */
export function overrideHeader(reason: string): string | null {
  if (!isReason(reason)) return null;
  return /^[\x20-\x7e]*$/.test(reason) && !ENCODED.test(reason) ? reason : `UTF-8''${encodeURIComponent(reason)}`;
}

/** The reason in the header; null: it has none that is accepted. */
export function reasonInHeader(value: string): string | null {
  try {
    const reason = ENCODED.test(value) ? decodeURIComponent(value.replace(ENCODED, "")) : value;
    return isReason(reason) ? reason : null;
  } catch {
    return null;
  }
}

export const NO_REASON = `must be a reason of at most ${REASON_MAX} characters, without line breaks and control characters`;

/** A charset and a language (RFC 8187, 3.2.1). */
const ENCODED = /^utf-8'[a-z0-9-]*'/i;

const isReason = (text: string): boolean => text.trim() !== "" && text.length <= REASON_MAX && isOneLine(text);

/** What a plan changes depends on the plan. */
export const IN_PLANS = "what plans contain";

/** Endpoints by what they change. The apply of files itself (POST /spec/apply) is not among them. */
const endpointsByKind: Readonly<Record<string, readonly string[]>> = {
  "the configuration": ["PATCH /config", "PUT /logo", "DELETE /logo", "PATCH /teams/0"],
  teams: ["POST /teams", "PATCH /teams/:id", "DELETE /teams/:id", "POST /spec/teams"],
  "agent options": ["POST /teams/:id/agent_options"],
  "enroll secrets": ["POST /spec/enroll_secret", "PATCH /teams/:id/secrets"],
  labels: ["POST /labels", "PATCH /labels/:id", "DELETE /labels/:name", "DELETE /labels/id/:id", "POST /spec/labels"],
  policies: [
    "POST /global/policies",
    "PATCH /global/policies/:id",
    "POST /global/policies/delete",
    "POST /teams/:id/policies",
    "PATCH /teams/:team_id/policies/:policy_id",
    "POST /teams/:team_id/policies/delete",
    "POST /spec/policies",
  ],
  packs: ["POST /packs", "PATCH /packs/:id", "DELETE /packs/:name", "DELETE /packs/id/:id", "POST /spec/packs"],
  "schedules of packs": ["POST /schedule", "PATCH /schedule/:id", "DELETE /schedule/:id"],
  queries: [
    "POST /queries",
    "PATCH /queries/:id",
    "DELETE /queries/:name",
    "DELETE /queries/id/:id",
    "POST /queries/delete",
    "POST /spec/queries",
    "POST /global/schedule",
    "PATCH /global/schedule/:id",
    "DELETE /global/schedule/:id",
    "POST /teams/:id/schedule",
    "PATCH /teams/:team_id/schedule/:scheduled_query_id",
    "DELETE /teams/:team_id/schedule/:scheduled_query_id",
  ],
  scripts: ["POST /scripts", "PATCH /scripts/:id", "DELETE /scripts/:id", "POST /scripts/batch"],
  profiles: [
    "POST /configuration_profiles",
    "PATCH /configuration_profiles/:profile_uuid",
    "DELETE /mdm/profiles/:profile_uuid",
    "POST /configuration_profiles/batch",
    "POST /assets",
    "DELETE /assets/:asset_uuid",
  ],
  "the setup of devices": [
    "POST /enrollment_profiles/automatic",
    "DELETE /enrollment_profiles/automatic",
    "PATCH /setup_experience",
    "PUT /setup_experience/software",
    "POST /setup_experience/script",
    "DELETE /setup_experience/script",
    "POST /managed_local_account",
    "POST /bootstrap",
    "DELETE /bootstrap/:team_id",
    "POST /setup_experience/eula",
    "DELETE /setup_experience/eula/:token",
  ],
  "settings of operating systems": ["POST /disk_encryption", "PATCH /mdm/vendora/settings", "POST /host_name_template"],
  software: [
    "POST /software/package",
    "PATCH /software/titles/:id/package",
    "DELETE /software/titles/:id/available_for_install",
    "POST /software/batch",
    "PUT /software/titles/:id/icon",
    "DELETE /software/titles/:id/icon",
    "POST /software/app_store_apps",
    "PATCH /software/titles/:id/app_store_app",
    "POST /software/app_store_apps/batch",
    "POST /software/svc_maintained_apps",
  ],
  "categories of self-service": [
    "POST /software/self_service_categories",
    "PATCH /software/self_service_categories/:id",
    "DELETE /software/self_service_categories/:id",
  ],
  "certificate authorities": [
    "POST /certificate_authorities",
    "PATCH /certificate_authorities/:id",
    "DELETE /certificate_authorities/:id",
    "POST /spec/certificate_authorities",
  ],
  "certificate templates": [
    "POST /certificates",
    "DELETE /certificates/:id",
    "POST /spec/certificates",
    "DELETE /spec/certificates",
  ],
  "custom variables": [
    "POST /custom_variables",
    "PATCH /custom_variables/:id",
    "DELETE /custom_variables/:id",
    "PUT /spec/secret_variables",
  ],
  "host vitals": [
    "POST /custom_host_vitals",
    "PATCH /custom_host_vitals/:id",
    "DELETE /custom_host_vitals/:id",
    "PUT /spec/custom_host_vitals",
  ],
  "teams of tokens": ["PATCH /abm_tokens/:id/teams", "PATCH /vpp_tokens/:id/teams"],
  "credentials for the directory": ["PUT /directory_graph_credentials"],
  [IN_PLANS]: ["POST /plans/:id/apply"],
};

/** What an exception of GitOps mode covers. */
const exceptionOf: Readonly<Record<string, keyof GitopsExceptions>> = {
  labels: "labels",
  software: "software",
  "categories of self-service": "software",
  "enroll secrets": "secrets",
};

const kinds = new Map(
  Object.entries(endpointsByKind).flatMap(([kind, keys]) => keys.map((key) => [key, kind] as const)),
);

/** What files determine and the endpoint changes; undefined for all other endpoints. */
export const kindInFiles = ({ method, path }: Pick<AnyEndpoint, "method" | "path">): string | undefined =>
  kinds.get(`${method} ${path}`);

/** Whether people may change this kind by hand although GitOps mode is on. */
export const isExcepted = (kind: string, exceptions: GitopsExceptions): boolean => {
  const name = exceptionOf[kind];
  return name !== undefined && exceptions[name];
};

export const endpointsInFiles = (): string[] => [...kinds.keys()];
