import type { Migration } from "./migration.ts";

export const migration: Migration = {
  number: 119,
  name: "version-keys-slow",
  transactional: false,
  statements: [
    'CREATE INDEX CONCURRENTLY IF NOT EXISTS "software_name_idx" ON "software" ("name", "id")',
    'CREATE INDEX CONCURRENTLY IF NOT EXISTS "software_version_key_idx" ON "software" ("version_key", "id")',
  ],
};
