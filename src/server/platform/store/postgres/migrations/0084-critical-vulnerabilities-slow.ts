import type { Migration } from "./migration.ts";

export const migration: Migration = {
  number: 84,
  name: "critical-vulnerabilities-slow",
  transactional: false,
  statements: [
    'CREATE INDEX CONCURRENTLY IF NOT EXISTS "host_policies_issues_count_idx" ON "host_policies" ("issues_count", "id")',
  ],
};
