import type { Kind } from "../../kind.ts";
import { findFiles, type PackagesByIndex } from "./find.ts";
import { KIND, type PackageRows, packageContents, packageThings, readPackages } from "./rows.ts";
import { type DesiredPackage, readPackage } from "./value.ts";
import { deletePackages, writePackages } from "./write.ts";

/** Packages, and maintained apps of the catalogue, that teams offer. Changed under the lock of policies, as always. */
export const packageKind: Kind<PackageRows, DesiredPackage, PackagesByIndex> = {
  name: KIND,
  owners: ["team", "no_team"],
  per: "many",
  action: () => "packages:write",
  load: readPackages,
  things: packageThings,
  contents: packageContents,
  read: readPackage,
  prepare: findFiles,
  write: writePackages,
  remove: deletePackages,
};
