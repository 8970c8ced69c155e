import { packageFields } from "../../../api/software/packages.ts";
import type { PackageKind, PackagePlatform } from "../../../packages/package.ts";
import type { LabelRule } from "../../hosts/labels/targeting.ts";
import { plainColumns } from "../../platform/store/plain-columns.ts";
import { bool, id, int, json, ref, table, text, time } from "../../platform/store/table.ts";
import type { SetupPositions } from "../software/setup-order.ts";

declare module "../../platform/core/tables.ts" {
  interface Tables {
    readonly softwareInstallers: typeof softwareInstallers;
    readonly installerLabels: typeof installerLabels;
  }
}

/** `dmg` and `zip` come from the catalogue of maintained apps only, with scripts that install them. */
export type InstallerKind = PackageKind | "dmg" | "zip";

/** The packages that teams offer: at most one for each title. */
export const softwareInstallers = table(
  "software_installers",
  {
    id: id(),
    /** Null: for hosts without a team. */
    team_id: ref("teams").nullable().onDelete("cascade"),
    title_id: ref("software_titles").onDelete("restrict"),
    file_id: ref("files").onDelete("restrict"),
    file_name: text(),
    kind: text<InstallerKind>(),
    platform: text<PackagePlatform>(),
    version: text(),
    /** SHA-256 of the file, in hex. */
    sha256: text().index(),
    size: int(),
    /** Where the file was downloaded from; empty if it was uploaded. */
    url: text().default(""),
    /** What the file calls itself on hosts: identifiers of the packages in it. */
    package_ids: json<readonly string[]>(),
    bundle_identifier: text().default(""),
    /** Whether the package names an app that it installs; null: unknown, because it comes from the catalogue. */
    installs_app: bool().nullable(),
    upgrade_code: text().default(""),
    install_script: text(),
    uninstall_script: text().default(""),
    post_install_script: text().default(""),
    /** Hosts install the package only if this query returns a row. Empty: always. */
    pre_install_query: text().default(""),
    /** A property list with settings of an app for iPhones and iPads. Empty: none. */
    configuration: text().default(""),
    ...plainColumns(packageFields),
    /** Names of categories, as users of hosts see them. */
    categories: json<readonly string[]>().default([]),
    /** Id of the app in the catalogue of maintained apps that it comes from. */
    catalogue_app_id: int().nullable(),
    /** The version of the maintained app that is kept. Empty: the latest one. */
    pinned_version: text().default(""),
    install_during_setup: bool().default(false),
    /** Positions in the setup of platforms; empty: only that of its own platform, after all others. */
    setup_positions: json<SetupPositions>().default({}),
    /** When the present file was uploaded. */
    uploaded_at: time(),
  },
  { unique: [["team_id", "title_id"]] },
);

/** The labels that limit a package. A deleted label stays, without its id: the package goes to no further host. */
export const installerLabels = table(
  "installer_labels",
  {
    id: id(),
    installer_id: ref("software_installers"),
    /** Null: a label that was deleted before labels in use were kept. */
    label_id: ref("labels").nullable().onDelete("restrict"),
    name: text(),
    rule: text<LabelRule>(),
  },
  { unique: [["installer_id", "rule", "name"]] },
);
