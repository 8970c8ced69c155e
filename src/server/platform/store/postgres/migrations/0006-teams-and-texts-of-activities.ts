import type { Migration } from "./migration.ts";

export const migration: Migration = {
  number: 6,
  name: "teams-and-texts-of-activities",
  transactional: false,
  statements: [
    'ALTER TABLE "activities" ADD COLUMN IF NOT EXISTS "team_ids" bigint[]',
    'ALTER TABLE "activities" ADD COLUMN IF NOT EXISTS "details_text" text COLLATE "C"',
    'ALTER TABLE "activities" ADD COLUMN IF NOT EXISTS "details_text_search" text COLLATE "C"',
    'ALTER TABLE "activities" ALTER COLUMN "team_ids" SET STORAGE EXTERNAL',
    'CREATE INDEX CONCURRENTLY IF NOT EXISTS "activities_team_ids_idx" ON "activities" USING gin ("team_ids")',
  ],
};
