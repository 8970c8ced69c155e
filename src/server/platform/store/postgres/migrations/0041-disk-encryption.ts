import type { Migration } from "./migration.ts";

export const migration: Migration = {
  number: 41,
  name: "disk-encryption",
  transactional: true,
  statements: [
    'ALTER TABLE "configuration_profiles" ADD COLUMN "is_own" boolean NOT NULL DEFAULT \'false\'',
    'ALTER TABLE "configuration_profiles" ALTER COLUMN "is_own" DROP DEFAULT',
    'ALTER TABLE "configuration_profiles" ADD COLUMN "host_platform" text COLLATE "C"',
    'ALTER TABLE "host_disk_encryption" ADD COLUMN "sealed_key" text COLLATE "C"',
    'ALTER TABLE "host_disk_encryption" ADD COLUMN "key_asked_at" timestamp(3) with time zone',
  ],
};
