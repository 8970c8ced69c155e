import type { Migration } from "./migration.ts";

export const migration: Migration = {
  number: 83,
  name: "critical-vulnerabilities",
  transactional: true,
  statements: [
    'DROP INDEX "host_policies_failing_count_idx"',
    'ALTER TABLE "host_policies" DROP COLUMN "failing_count"',
    'ALTER TABLE "vulnerability_count_changes" ADD COLUMN "hosts" bytea NOT NULL DEFAULT \'\\x5b5d\'',
    'ALTER TABLE "vulnerability_count_changes" ALTER COLUMN "hosts" DROP DEFAULT',
    'ALTER TABLE "host_policies" ADD COLUMN "critical_count" bigint NOT NULL DEFAULT \'0\'',
    'ALTER TABLE "host_policies" ALTER COLUMN "critical_count" DROP DEFAULT',
    'ALTER TABLE "host_policies" ADD COLUMN "issues_count" bigint NOT NULL DEFAULT \'0\'',
    'ALTER TABLE "host_policies" ALTER COLUMN "issues_count" DROP DEFAULT',
    'UPDATE "host_policies" SET "issues_count" = cardinality("failing")',
    'ALTER TABLE "vulnerability_count_changes" ALTER COLUMN "hosts" SET STORAGE EXTERNAL',
  ],
};
