import type { Migration } from "./migration.ts";

export const migration: Migration = {
  number: 113,
  name: "links-of-users-and-nonces-slow",
  transactional: false,
  statements: [
    'CREATE INDEX CONCURRENTLY IF NOT EXISTS "device_links_user_id_idx" ON "device_links" ("user_id")',
    'ALTER TABLE "device_links" VALIDATE CONSTRAINT "device_links_user_id_fkey"',
  ],
};
