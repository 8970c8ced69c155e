import type { Migration } from "./migration.ts";

export const migration: Migration = {
  number: 79,
  name: "software-installs-slow",
  transactional: false,
  statements: [
    'CREATE INDEX CONCURRENTLY IF NOT EXISTS "software_installs_installer_id_status_idx" ON "software_installs" ("installer_id", "status")',
  ],
};
