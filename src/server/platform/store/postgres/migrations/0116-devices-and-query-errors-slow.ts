import type { Migration } from "./migration.ts";

export const migration: Migration = {
  number: 116,
  name: "devices-and-query-errors-slow",
  transactional: false,
  statements: [
    'UPDATE "windows_enrollments" SET "serial_search" = lower("serial" COLLATE "und-x-icu")',
    'CREATE INDEX CONCURRENTLY IF NOT EXISTS "windows_enrollments_is_alone_idx" ON "windows_enrollments" ("is_alone")',
    'CREATE INDEX CONCURRENTLY IF NOT EXISTS "windows_enrollments_serial_search_idx" ON "windows_enrollments" ("serial_search")',
  ],
};
