import type { Migration } from "./migration.ts";

export const migration: Migration = {
  number: 16,
  name: "files-of-operations-slow",
  transactional: false,
  statements: [
    'CREATE INDEX CONCURRENTLY IF NOT EXISTS "operation_contents_file_id_idx" ON "operation_contents" ("file_id")',
    'ALTER TABLE "operation_contents" VALIDATE CONSTRAINT "operation_contents_file_id_fkey"',
  ],
};
