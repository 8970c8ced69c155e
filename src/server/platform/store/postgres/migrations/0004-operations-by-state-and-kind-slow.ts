import type { Migration } from "./migration.ts";

export const migration: Migration = {
  number: 4,
  name: "operations-by-state-and-kind-slow",
  transactional: false,
  statements: [
    'CREATE INDEX CONCURRENTLY IF NOT EXISTS "operations_kind_idx" ON "operations" ("kind", "id")',
    'CREATE INDEX CONCURRENTLY IF NOT EXISTS "operations_state_idx" ON "operations" ("state", "id")',
  ],
};
