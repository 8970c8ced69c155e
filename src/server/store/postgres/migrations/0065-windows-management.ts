import type { Migration } from "./migration.ts";

export const migration: Migration = {
  number: 65,
  name: "windows-management",
  transactional: true,
  statements: [
    'ALTER TABLE "windows_profile_nodes" ADD COLUMN "obsolete" json NOT NULL DEFAULT \'[]\'',
    'ALTER TABLE "windows_profile_nodes" ALTER COLUMN "obsolete" DROP DEFAULT',
    'ALTER TABLE "windows_profile_nodes" ADD COLUMN "deleting" text COLLATE "C"',
  ],
};
