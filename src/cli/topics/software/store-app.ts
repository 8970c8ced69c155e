// Columns of store apps.
import { LicensedApp } from "../../../api/software/store-app.ts";
import type { View } from "../../output/output.ts";

export const licensedAppView: View = {
  schema: () => LicensedApp,
  columns: [
    { key: "app_store_id", header: "id" },
    { key: "name" },
    { key: "platform" },
    { key: "latest_version", header: "version" },
  ],
};
