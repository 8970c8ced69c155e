import type { Migration } from "./migration.ts";

export const migration: Migration = {
  number: 96,
  name: "settings-of-hosts",
  transactional: true,
  statements: [
    'ALTER TABLE "host_settings" DROP COLUMN "updated_at"',
    'ALTER TABLE "host_settings" ADD COLUMN "profiles" text COLLATE "C"',
    'ALTER TABLE "host_settings" ADD COLUMN "disk_encryption" text COLLATE "C"',
    'ALTER TABLE "host_settings" ADD COLUMN "recovery_lock" text COLLATE "C"',
    'ALTER TABLE "host_settings" ADD COLUMN "host_name" text COLLATE "C"',
    'ALTER TABLE "host_settings" ADD COLUMN "profiles_changed_at" timestamp(3) with time zone',
  ],
};
