import type { Migration } from "./migration.ts";

export const migration: Migration = {
  number: 44,
  name: "bitlocker-pin",
  transactional: true,
  statements: ['ALTER TABLE "host_disk_encryption" ADD COLUMN "has_pin" boolean'],
};
