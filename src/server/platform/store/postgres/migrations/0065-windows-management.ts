import type { Migration } from "./migration.ts";

export const migration: Migration = {
  number: 65,
  name: "windows-management",
  transactional: true,
  statements: [
    'CREATE TABLE "windows_updates" ("id" bigint CONSTRAINT "windows_updates_pkey" PRIMARY KEY, "deadline_days" bigint, "grace_period_days" bigint, "command_uuid" text COLLATE "C", "revision" bigint NOT NULL DEFAULT 1)',
    'ALTER TABLE "windows_profile_nodes" ADD COLUMN "obsolete" json NOT NULL DEFAULT \'[]\'',
    'ALTER TABLE "windows_profile_nodes" ALTER COLUMN "obsolete" DROP DEFAULT',
    'ALTER TABLE "windows_profile_nodes" ADD COLUMN "deleting" text COLLATE "C"',
    'ALTER TABLE "windows_updates" ADD CONSTRAINT "windows_updates_id_fkey" FOREIGN KEY ("id") REFERENCES "hosts" ("id") ON DELETE CASCADE',
  ],
};
