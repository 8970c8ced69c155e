import type { Migration } from "./migration.ts";

export const migration: Migration = {
  number: 118,
  name: "version-keys",
  transactional: true,
  statements: [
    'ALTER TABLE "os_versions" ADD COLUMN "version_key" text COLLATE "C"',
    'ALTER TABLE "software" ADD COLUMN "version_key" text COLLATE "C"',
  ],
};
