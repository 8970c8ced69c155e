import { bool, id, idOf, packed, type RowOf, table, text } from "../../platform/store/table.ts";
import type { Manifest } from "./format.ts";

declare module "../../platform/core/tables.ts" {
  interface Tables {
    readonly catalogueApps: typeof catalogueApps;
    readonly catalogueOffers: typeof catalogueOffers;
  }
}

type CataloguePlatform = "darwin" | "windows";

/** The apps of the catalogue, as it was last read. */
export const catalogueApps = table("catalogue_apps", {
  id: id(),
  slug: text().unique(),
  name: text().search(),
  platform: text<CataloguePlatform>(),
  /** The bundle identifier of a Mac app; the name of a Windows program. */
  unique_identifier: text(),
  description: text().default(""),
  /** The newest one. */
  version: text(),
  manifest: packed<Manifest>(),
  /** SHA-256 of the manifest's file. */
  manifest_sha256: text(),
  /** Apps that leave the catalogue keep their rows, because packages of teams refer to them. */
  is_listed: bool().default(true),
});

export type AppRow = RowOf<typeof catalogueApps>;

/** The catalogue's scripts that a package had when it was added or updated, by their SHA-256. */
export const catalogueOffers = table("catalogue_offers", {
  id: idOf("software_installers"),
  install_sha256: text(),
  uninstall_sha256: text(),
});
