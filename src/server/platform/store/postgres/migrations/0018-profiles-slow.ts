import type { Migration } from "./migration.ts";

export const migration: Migration = {
  number: 18,
  name: "profiles-slow",
  transactional: false,
  statements: [
    'CREATE INDEX CONCURRENTLY IF NOT EXISTS "host_profiles_command_uuid_idx" ON "host_profiles" ("command_uuid", "id")',
  ],
};
