import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import {
  Empty,
  Id,
  IdParam,
  Meta,
  nameText,
  pagingAfter,
  QueryFlag,
  QueryInt,
  QueryTeam,
  QueryText,
  Timestamp,
} from "../fields.ts";
import { Signature, Vulnerability } from "../hosts/host-software.ts";
import { ListedPackage, Package } from "./packages.ts";
import { StoreApp } from "./store-app.ts";

const Categories = z.array(z.string()).nullable();

/** The package with which a host can install a title. */
const HostPackage = z.object({
  name: z.string().meta({ description: "name of the file" }),
  platform: z.string(),
  version: z.string(),
  self_service: z.boolean(),
  has_uninstall_script: z.boolean(),
  categories: Categories,
  last_install: z
    .object({ install_uuid: z.string(), installed_at: Timestamp })
    .nullable()
    .meta({ description: "the last one that was requested, even if it has not ended or has failed" }),
  last_uninstall: z.object({ script_execution_id: z.string(), uninstalled_at: Timestamp }).nullable(),
});

const HostStoreApp = z.object({
  app_store_id: z.string(),
  platform: z.string(),
  version: z.string(),
  self_service: z.boolean(),
  categories: Categories,
  last_install: z.object({ command_uuid: z.string(), installed_at: Timestamp }).nullable(),
});

/** One title that is on a host, or that was or can be installed there (GET /hosts/:id/software). */
export const HostSoftwareItem = z.object({
  id: Id,
  name: z.string(),
  display_name: z.string().meta({ description: "empty if users have not set one" }),
  icon_url: z.string().nullable(),
  source: z.string(),
  extension_for: z.string(),
  status: z
    .enum(["pending_install", "failed_install", "installed", "pending_uninstall", "failed_uninstall"])
    .nullable()
    .meta({ description: "of what this server last installed or uninstalled" }),
  software_package: HostPackage.nullable(),
  app_store_app: HostStoreApp.nullable(),
  installed_versions: z.array(
    z.object({
      version: z.string(),
      bundle_identifier: z.string(),
      last_opened_at: Timestamp.nullable(),
      vulnerabilities: z.array(z.string()).nullable(),
      installed_paths: z.array(z.string()),
      signature_information: z.array(Signature).optional(),
    }),
  ),
});
export type HostSoftwareItem = z.infer<typeof HostSoftwareItem>;

const installable = {
  icon_url: z.string().nullable(),
  software_package: ListedPackage.nullable(),
  packages: z.array(ListedPackage).nullable(),
  app_store_app: StoreApp.nullable(),
  hash_sha256: z.string().optional().meta({ description: "of the package" }),
};
const TitleVersion = z.object({
  id: Id,
  version: z.string(),
  vulnerabilities: z.array(z.string()).nullable().meta({ description: "CVE ids" }),
});

/** A title: all versions of an app, program or package from one source. */
export const SoftwareTitle = z.object({
  id: Id,
  name: z.string(),
  display_name: z.string().meta({ description: "empty if users have not set one" }),
  source: z.string(),
  extension_for: z.string(),
  browser: z.string().meta({ deprecated: true }),
  bundle_identifier: z.string().optional(),
  hosts_count: z.int(),
  versions_count: z.int(),
  versions: z.array(TitleVersion),
  ...installable,
});
export type SoftwareTitle = z.infer<typeof SoftwareTitle>;

/** In every reply with vulnerabilities, so that "none" and "not known" differ. */
export const importTime = {
  vulnerability_data_imported_at: Timestamp.nullable().meta({
    description:
      "when vulnerability data was last imported; null: never, so that nothing is known about vulnerabilities",
  }),
};

export const SoftwareTitleDetails = SoftwareTitle.extend({
  versions: z.array(TitleVersion.extend({ hosts_count: z.int() })),
  software_package: Package.nullable(),
  packages: z.array(Package).nullable(),
  counts_updated_at: Timestamp.nullable(),
});
export type SoftwareTitleDetails = z.infer<typeof SoftwareTitleDetails>;

export const SoftwareVersion = z.object({
  id: Id,
  title_id: Id,
  name: z.string(),
  display_name: z.string(),
  version: z.string(),
  source: z.string(),
  extension_for: z.string(),
  browser: z.string().meta({ deprecated: true }),
  bundle_identifier: z.string().optional(),
  release: z.string().optional(),
  vendor: z.string().optional(),
  arch: z.string().optional(),
  extension_id: z.string().optional(),
  generated_cpe: z.string(),
  hosts_count: z.int(),
  vulnerabilities: z.array(z.union([Vulnerability, z.string()])).nullable(),
});
export type SoftwareVersion = z.infer<typeof SoftwareVersion>;

/** Platforms whose hosts can have a title. `macos` is another name of `darwin`. */
const platforms = ["macos", "darwin", "windows", "linux", "chrome", "ios", "ipados", "android"] as const;
export type SoftwarePlatform = (typeof platforms)[number];

const team = { team_id: QueryTeam.optional() };
const severity = {
  vulnerable: QueryFlag.default(false),
  min_cvss_score: QueryInt.optional().meta({ premium: true }),
  max_cvss_score: QueryInt.optional().meta({ premium: true }),
  exploit: QueryFlag.optional().meta({ premium: true }),
};
const read = { action: "software:list", scope: "team" } as const;
const params = z.object({ id: IdParam });
const versionQuery = z.object({
  ...team,
  ...severity,
  query: QueryText.optional().meta({ description: "searches names and versions; a CVE id finds what is vulnerable" }),
});

export const softwareApi = {
  titles: endpoint({
    method: "GET",
    path: "/software/titles",
    summary: "List software titles, with the number of hosts that have them.",
    access: read,
    query: pagingAfter("name", "hosts_count").extend({
      ...team,
      ...severity,
      query: QueryText.optional().meta({ description: "searches names; a CVE id finds what is vulnerable" }),
      platform: z
        .string()
        .max(255)
        .transform((text) => text.split(",").map((part) => part.trim()))
        .pipe(z.array(z.enum(platforms)))
        .optional()
        .meta({ description: "platforms, separated by commas; needs team_id" }),
      available_for_install: QueryFlag.default(false),
      self_service: QueryFlag.default(false),
      packages_only: QueryFlag.default(false),
      hash_sha256: z.string().max(64).optional().meta({ description: "of a package; needs team_id" }),
      package_name: z.string().max(255).optional().meta({ description: "needs team_id" }),
      exclude_svc_maintained_apps: QueryFlag.default(false),
    }),
    response: z.object({
      counts_updated_at: Timestamp.nullable(),
      count: z.int(),
      software_titles: z.array(SoftwareTitle),
      ...importTime,
      meta: Meta,
    }),
  }),
  title: endpoint({
    method: "GET",
    path: "/software/titles/:id",
    summary: "Show a software title with its versions.",
    access: read,
    params,
    query: z.object(team),
    response: z.object({ software_title: SoftwareTitleDetails, ...importTime }),
  }),
  rename: endpoint({
    method: "PATCH",
    path: "/software/titles/:id/name",
    summary: "Change the name of a software title that has a bundle identifier.",
    stability: "experimental",
    access: { action: "software:rename", scope: "global" },
    params,
    body: z.object({ name: nameText() }),
    status: 205,
    response: Empty,
  }),
  versions: endpoint({
    method: "GET",
    path: "/software/versions",
    aliases: ["/software"],
    summary: "List software versions, with the number of hosts that have them.",
    access: read,
    query: pagingAfter(
      "name",
      "hosts_count",
      "cve_published",
      "cvss_score",
      "epss_probability",
      "cisa_known_exploit",
    ).extend({
      ...versionQuery.shape,
      without_vulnerability_details: QueryFlag.optional().meta({
        premium: true,
        description: "list only the ids of vulnerabilities (premium)",
      }),
    }),
    response: z.object({
      counts_updated_at: Timestamp.nullable(),
      count: z.int(),
      software: z.array(SoftwareVersion),
      ...importTime,
      meta: Meta,
    }),
  }),
  version: endpoint({
    method: "GET",
    path: "/software/versions/:id",
    aliases: ["/software/:id"],
    summary: "Show a software version.",
    access: read,
    params,
    query: z.object(team),
    response: z.object({ software: SoftwareVersion, ...importTime }),
  }),
  count: endpoint({
    method: "GET",
    path: "/software/count",
    summary: "Count software versions.",
    stability: "deprecated",
    access: read,
    query: versionQuery,
    response: z.object({ count: z.int() }),
  }),
};
