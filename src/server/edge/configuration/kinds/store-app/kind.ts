import type { Kind } from "../../kind.ts";
import { appContents, appThings, KIND, readApps, type StoreAppRows } from "./rows.ts";
import { type DesiredStoreApp, readApp } from "./value.ts";
import { deleteApps, findListings, writeApps } from "./write.ts";

type Listings = Awaited<ReturnType<typeof findListings>>;

/** Apps of the vendor's store that teams offer. Changed under the lock of policies, as packages are. */
export const storeApp: Kind<StoreAppRows, DesiredStoreApp, Listings> = {
  name: KIND,
  owners: ["team", "no_team"],
  per: "many",
  action: () => "packages:write",
  load: readApps,
  things: appThings,
  contents: appContents,
  read: readApp,
  prepare: findListings,
  write: writeApps,
  remove: deleteApps,
};
