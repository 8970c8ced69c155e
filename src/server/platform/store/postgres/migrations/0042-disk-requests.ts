import type { Migration } from "./migration.ts";

export const migration: Migration = {
  number: 42,
  name: "disk-requests",
  transactional: true,
  statements: ['ALTER TABLE "host_disk_encryption" ADD COLUMN "asked" text COLLATE "C"'],
};
