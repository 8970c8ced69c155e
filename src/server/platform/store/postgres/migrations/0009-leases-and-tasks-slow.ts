import type { Migration } from "./migration.ts";

export const migration: Migration = {
  number: 9,
  name: "leases-and-tasks-slow",
  transactional: false,
  statements: [
    'CREATE INDEX CONCURRENTLY IF NOT EXISTS "approvals_task_id_idx" ON "approvals" ("task_id")',
    'CREATE INDEX CONCURRENTLY IF NOT EXISTS "job_runs_runner_until_idx" ON "job_runs" ("runner_until", "id")',
    'ALTER TABLE "approvals" VALIDATE CONSTRAINT "approvals_task_id_fkey"',
  ],
};
