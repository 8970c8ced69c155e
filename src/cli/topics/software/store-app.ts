// Columns of store apps.
import { LicensedApp, StoreApp } from "../../../api/software/store-app.ts";
import type { View } from "../../output/output.ts";

const columns = [
  { key: "app_store_id", header: "id" },
  { key: "name" },
  { key: "platform" },
  { key: "latest_version", header: "version" },
];

export const licensedAppView: View = { schema: () => LicensedApp, columns };

export const storeAppView: View = {
  schema: () => StoreApp,
  columns: [
    ...columns,
    { key: "self_service", header: "self-service" },
    { key: "status.installed", header: "installed" },
    { key: "status.pending", header: "pending" },
    { key: "status.failed", header: "failed" },
  ],
};
