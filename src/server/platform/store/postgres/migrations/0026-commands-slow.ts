import type { Migration } from "./migration.ts";

export const migration: Migration = {
  number: 26,
  name: "commands-slow",
  transactional: false,
  statements: ['CREATE INDEX CONCURRENTLY IF NOT EXISTS "operations_ended_at_idx" ON "operations" ("ended_at", "id")'],
};
