import type { Migration } from "./migration.ts";

export const migration: Migration = {
  number: 86,
  name: "scripts-by-policies-slow",
  transactional: false,
  statements: [
    'CREATE INDEX CONCURRENTLY IF NOT EXISTS "script_executions_policy_id_idx" ON "script_executions" ("policy_id")',
    'ALTER TABLE "script_executions" VALIDATE CONSTRAINT "script_executions_policy_id_fkey"',
  ],
};
