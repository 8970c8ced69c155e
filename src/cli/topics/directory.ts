// Columns of the credentials for the directory.
import { DirectoryCredentials } from "../../api/hosts/directory.ts";
import type { View } from "../output/output.ts";
import { timeColumn } from "../output/time-column.ts";

export const directoryView = (relative: boolean, now: Date): View => ({
  schema: () => DirectoryCredentials,
  columns: [
    { key: "tenant_id", header: "tenant" },
    { key: "client_id", header: "client", spare: 1 },
    { key: "credential_invalid", header: "invalid" },
    timeColumn("last_synced_at", "synchronized", relative, now),
    { key: "last_sync_error", header: "error" },
  ],
});
