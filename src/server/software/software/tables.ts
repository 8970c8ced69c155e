import { bool, id, idOf, ids, int, packed, real, ref, table, text, time } from "../../platform/store/table.ts";

declare module "../../platform/core/tables.ts" {
  interface Tables {
    readonly softwareTitles: typeof softwareTitles;
    readonly software: typeof software;
    readonly hostSoftware: typeof hostSoftware;
    readonly softwareInstalls: typeof softwareInstalls;
    readonly softwareTitleCounts: typeof softwareTitleCounts;
    readonly softwareVersionCounts: typeof softwareVersionCounts;
    readonly softwareCountState: typeof softwareCountState;
  }
}

export const softwareTitles = table(
  "software_titles",
  {
    id: id(),
    name: text().search(),
    source: text(),
    extension_for: text().default(""),
    bundle_identifier: text().default(""),
    /** The identity of the title: equal keys mean the same title. */
    key: text().unique(),
    /** Who has given the name: hosts, which report it, or a user. Empty: an earlier version of the server. */
    named_by: text<"" | "hosts" | "user">().default(""),
  },
  { indexes: [["name", "source"]] },
);

export const software = table(
  "software",
  {
    id: id(),
    title_id: ref("software_titles"),
    name: text().search().index(),
    version: text(),
    /** Sorts as the versions of its source (platform/versions/ordering.ts). Null: a migration has cleared it. */
    version_key: text().nullable().index(),
    source: text(),
    extension_for: text().default(""),
    extension_id: text().default(""),
    bundle_identifier: text().default(""),
    release: text().default(""),
    vendor: text().default(""),
    arch: text().default(""),
    upgrade_code: text().default(""),
    /** The source package of a package of a distribution, as its agent reports it. */
    source_package: text().default(""),
    /** The product of NVD with this version; empty: none is known. */
    generated_cpe: text().default(""),
    /** Path of the version on the first host that reported it (installed-paths.ts). Never changes. */
    usual_path: text().default(""),
    /** Whether the version was compared with vulnerability data: new ones are, within seconds. */
    is_matched: bool().default(false).index(),
    /** The identity of the version: equal keys mean the same version. */
    key: text().unique(),
    /** The worst of its vulnerabilities, for lists (vulnerabilities/severity.ts). Below 0 or empty: not known. */
    is_vulnerable: bool().default(false),
    cvss_score: real().default(-1),
    epss_probability: real().default(-1),
    cisa_known_exploit: bool().default(false),
    cve_published: text().default(""),
  },
  { indexes: [["cvss_score"], ["epss_probability"], ["cve_published"], ["cisa_known_exploit"]] },
);

/**
 * What one host reports about its software versions, by version id: [last opened (ISO or null), installed paths]. Paths
 * are left out if they are the version's usual ones (installed-paths.ts), and versions of which nothing is left.
 */
export type InstalledDetails = Record<string, readonly [lastOpened: string | null, paths?: readonly string[]]>;

/**
 * The software of a host as a single row instead of one row per pair. With 10,000 hosts and 300 entries each, there
 * would be millions of pairs.
 */
export const hostSoftware = table("host_software", {
  id: idOf("hosts"),
  software_ids: ids("software"),
  title_ids: ids("software_titles"),
  details: packed<InstalledDetails>(),
  /** The home folder in its paths (installed-paths.ts). */
  home: text().default(""),
  /** A fingerprint of the last inventory, which detects an unchanged one without reading the row's lists. */
  fingerprint: text().default(""),
});

export type InstallStatus =
  | "pending_install"
  | "failed_install"
  | "installed"
  | "pending_uninstall"
  | "failed_uninstall";

/** The state of the last install or uninstall of a title on a host through this server. */
export const softwareInstalls = table(
  "software_installs",
  {
    id: id(),
    host_id: ref("hosts"),
    title_id: ref("software_titles"),
    status: text<InstallStatus>().index(),
    /** The package that it counts for. Null: none, because it was a store app. */
    installer_id: int().nullable(),
  },
  { unique: [["host_id", "title_id"]], indexes: [["installer_id", "status"]] },
);

/** On how many hosts of a scope a title is, and in how many versions. No row: on none. */
export const softwareTitleCounts = table(
  "software_title_counts",
  {
    id: id(),
    title_id: ref("software_titles"),
    scope: int(),
    /** The title's name, so that lists in its order read an index. */
    name: text(),
    hosts_count: int(),
    versions_count: int(),
  },
  {
    unique: [["title_id", "scope"]],
    indexes: [
      ["scope", "hosts_count"],
      ["scope", "name"],
    ],
  },
);

/** On how many hosts of a scope a version is. No row: on none. */
export const softwareVersionCounts = table(
  "software_version_counts",
  {
    id: id(),
    software_id: ref("software"),
    title_id: ref("software_titles"),
    scope: int(),
    name: text(),
    hosts_count: int(),
  },
  {
    unique: [["software_id", "scope"]],
    indexes: [
      ["scope", "hosts_count"],
      ["scope", "name"],
    ],
  },
);

/** One row, or none before all hosts were counted for the first time. */
export const softwareCountState = table("software_count_state", {
  id: id(),
  counted_at: time().nullable(),
  /** When all hosts were last counted. */
  recounted_at: time().nullable(),
  /** Increased with every change of counts. */
  generation: int(),
  /** While all hosts are being counted, differences wait. */
  recount_until: time().nullable(),
});
