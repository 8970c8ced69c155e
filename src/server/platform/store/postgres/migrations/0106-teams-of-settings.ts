import type { Migration } from "./migration.ts";

export const migration: Migration = {
  number: 106,
  name: "teams-of-settings",
  transactional: true,
  statements: [
    'ALTER TABLE "host_settings" ADD COLUMN "team" bigint',
    'UPDATE "host_settings" SET "team" = coalesce("hosts"."team_id", 0) FROM "hosts" WHERE "hosts"."id" = "host_settings"."id"',
    'CREATE INDEX "host_settings_team_status_idx" ON "host_settings" ("team", "status")',
  ],
};
