// Packages: installer files that teams offer to their hosts, one for each software title.

import { z } from "zod";
import { Download, file, MiB, multipart, optionalFile } from "../bodies.ts";
import { policyTypes } from "../checks/policies.ts";
import { endpoint } from "../endpoint.ts";
import { Empty, Id, IdParam, nameText, QueryFlag, QueryTeam, Timestamp, unchanged } from "../fields.ts";
import { LabelNames, ScopeLabel } from "../hosts/label-scope.ts";
import { formSchemasOf, plainFlag, plainText, recordOf, schemasOf } from "../plain-fields.ts";

/** Maximum size of a package. */
export const PACKAGE_MAX = 10 * 1024 * MiB;
/** Maximum length of each script of a package, in characters. */
export const PACKAGE_SCRIPT_MAX = 500_000;
/** Base64 is a third longer. */
const script = z.string().max(PACKAGE_SCRIPT_MAX * 1.4);
export const packageTextFields = {
  install_script: script.meta({ description: "required for .exe and .tar.gz; others have a default" }),
  uninstall_script: script.meta({ description: "required for .exe and .tar.gz; others have a default" }),
  pre_install_query: script.meta({ description: "hosts install the package only if it returns a row; empty: always" }),
  post_install_script: script,
};
export const packageScripts = ["install_script", "uninstall_script", "post_install_script"] as const;
/** Files name a file for each of these, and the configuration has their digests. */
export const packageTexts = ["pre_install_query", ...packageScripts, "configuration"] as const;
export type PackageText = (typeof packageTexts)[number];

/** Plain fields that can be set as soon as a package is added. */
export const newPackageFields = {
  self_service: plainFlag({
    summary: "Users of hosts may install it.",
    description: "users of hosts may install it themselves",
  }),
};
export const packageFields = {
  ...newPackageFields,
  display_name: plainText(255, {
    summary: "Name that users of hosts see.",
    description: "name that users of hosts see; empty: that of the title",
    helpValue: "NAME",
  }),
};

/** With the value `base64`, the four texts of a package are encoded: filters on the way might refuse scripts. */
export const SCRIPTS_ENCODED = "X-Svc-Scripts-Encoded";

export const InstallCounts = z.object({
  installed: z.int(),
  pending_install: z.int(),
  failed_install: z.int(),
  pending_uninstall: z.int(),
  failed_uninstall: z.int(),
});
export type InstallCounts = z.infer<typeof InstallCounts>;

export const InstallPolicy = z.object({ id: Id, name: z.string(), type: z.enum(policyTypes) });

export const PatchPolicy = z.object({
  id: Id,
  name: z.string(),
  install_software: z.boolean(),
  patch_when_closed: z.boolean(),
  notify_before_patching: z.boolean(),
});
export type PatchPolicy = z.infer<typeof PatchPolicy>;

export const Package = z.object({
  team_id: z.int().nonnegative().meta({ description: "0 = no team" }),
  title_id: Id,
  installer_id: Id,
  name: z.string().meta({ description: "name of the file" }),
  version: z.string(),
  platform: z.string(),
  url: z.string().meta({ description: "where the file was downloaded from; empty if it was uploaded" }),
  uploaded_at: Timestamp,
  ...recordOf([...packageScripts, "pre_install_query"], () => z.string()),
  configuration: z.string().optional().meta({ description: "settings of an app for iPhones and iPads" }),
  hash_sha256: z.string(),
  ...schemasOf(packageFields),
  status: InstallCounts.meta({ description: "hosts" }),
  svc_maintained_app_id: Id.nullable(),
  pinned_version: z.string().optional(),
  automatic_install_policies: z.array(InstallPolicy).nullable(),
  patch_policy: PatchPolicy.nullable().meta({ description: "maintained apps: the policy that keeps them up to date" }),
  categories: z.array(z.string()).nullable(),
  labels_include_all: z.array(ScopeLabel).nullable(),
  labels_include_any: z.array(ScopeLabel).nullable(),
  labels_exclude_any: z.array(ScopeLabel).nullable(),
});
export type Package = z.infer<typeof Package>;

/** A package in lists of titles. */
export const ListedPackage = z.object({
  name: z.string(),
  version: z.string(),
  platform: z.string(),
  self_service: z.boolean(),
  automatic_install_policies: z.array(InstallPolicy).nullable(),
  package_url: z.string(),
  last_install: z.null(),
  last_uninstall: z.null(),
});
export type ListedPackage = z.infer<typeof ListedPackage>;

const fields = {
  ...z.object({ ...packageTextFields, ...formSchemasOf(newPackageFields) }).partial().shape,
  configuration: z.string().max(1_000_000).optional().meta({
    description: "a property list with settings of an app for iPhones and iPads (.ipa); empty: none",
  }),
  automatic_install: QueryFlag.optional().meta({
    description: "create a policy that installs the package on hosts without it",
  }),
  categories: z.array(nameText()).max(100).optional(),
  labels_include_all: LabelNames.optional(),
  labels_include_any: LabelNames.optional(),
  labels_exclude_any: LabelNames.optional(),
};
const change = {
  ...fields,
  ...z.object(formSchemasOf(packageFields)).partial().shape,
  display_name: nameText().optional(),
  patch: QueryFlag.optional().meta({
    description:
      "maintained apps: true creates a policy that installs the app on hosts with an older version; false deletes it",
  }),
  patch_when_closed: QueryFlag.optional().meta({
    description: "of that policy: only while the app is closed; default of a new one: true",
  }),
  notify_before_patching: QueryFlag.optional().meta({
    description: "of that policy: users are notified five minutes before",
  }),
  version: nameText().optional().meta({
    description:
      "maintained apps: the version to stay at, such as 147.0.2 or ^147; empty: follow the newest. No other change",
  }),
  team_id: QueryTeam,
  platform: unchanged(z.string()),
  url: unchanged(z.string()),
};
export type PackageFields = z.output<z.ZodObject<typeof fields>>;

const read = { action: "packages:read", scope: "team" } as const;
const write = { action: "packages:write", scope: "team" } as const;
const params = z.object({ id: IdParam });
const media = z.literal("media");
const ofTeam = z.object({ team_id: QueryTeam });
const download = ofTeam.extend({ alt: media });
const premium = { tier: "premium" } as const;

export const packagesApi = {
  upload: endpoint({
    ...premium,
    method: "POST",
    path: "/software/package",
    summary: "Upload a package, which hosts of a team, or those without a team, can install.",
    access: write,
    body: multipart({ ...fields, team_id: QueryTeam.optional() }, { software: file({ limit: PACKAGE_MAX }) }),
    response: z.object({ software_package: Package }),
  }),
  update: endpoint({
    ...premium,
    method: "PATCH",
    path: "/software/titles/:id/package",
    summary: "Change the package of a title: its file, scripts, labels, or how users see it.",
    access: write,
    params,
    body: multipart(change, { software: optionalFile({ limit: PACKAGE_MAX }) }, { isJsonToo: true }),
    response: z.object({ software_installer: Package }),
  }),
  download: endpoint({
    ...premium,
    method: "GET",
    path: "/software/titles/:id/package",
    summary: "Download the package of a title.",
    access: read,
    params,
    query: download,
    produces: "application/octet-stream",
    response: Download,
  }),
  token: endpoint({
    ...premium,
    method: "POST",
    path: "/software/titles/:id/package/token",
    summary: "Create a token with which the package of a title can be downloaded once, within ten minutes.",
    access: read,
    params,
    query: download,
    response: z.object({ token: z.string() }),
  }),
  downloadByToken: endpoint({
    ...premium,
    method: "GET",
    path: "/software/titles/:id/package/token/:token",
    summary: "Download a package with a token. The token is used up.",
    access: "none",
    params: params.extend({ token: z.string().min(1).max(255) }),
    query: z.object({ alt: media }),
    produces: "application/octet-stream",
    response: Download,
    hasHead: false,
  }),
  delete: endpoint({
    ...premium,
    method: "DELETE",
    path: "/software/titles/:id/available_for_install",
    summary: "Stop offering a title to a team. Hosts keep what they have installed.",
    access: write,
    params,
    query: ofTeam,
    status: 204,
    response: Empty,
  }),
  hashes: endpoint({
    ...premium,
    method: "GET",
    path: "/software/package_hashes",
    summary: "Whether packages with all of these SHA-256 digests are stored: 404 if one is missing.",
    access: read,
    query: z.object({
      sha256: z.string().max(100_000).meta({ description: "digests in hex, separated by commas" }),
      team_name: nameText().optional().meta({ description: "absent: needs a global role" }),
    }),
    response: Empty,
  }),
};
