import type { Migration } from "./migration.ts";

export const migration: Migration = {
  number: 82,
  name: "directory-slow",
  transactional: false,
  statements: [
    'CREATE INDEX CONCURRENTLY IF NOT EXISTS "scim_users_directory_id_idx" ON "scim_users" ("directory_id", "id")',
    'CREATE INDEX CONCURRENTLY IF NOT EXISTS "scim_groups_directory_id_idx" ON "scim_groups" ("directory_id", "id")',
  ],
};
