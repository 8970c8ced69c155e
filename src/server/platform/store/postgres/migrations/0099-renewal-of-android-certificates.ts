import type { Migration } from "./migration.ts";

export const migration: Migration = {
  number: 99,
  name: "renewal-of-android-certificates",
  transactional: true,
  statements: [
    'ALTER TABLE "host_certificates" ADD COLUMN "serial" text COLLATE "C"',
    'ALTER TABLE "host_certificates" ADD COLUMN "not_valid_after" timestamp(3) with time zone',
    'ALTER TABLE "host_certificates" ADD COLUMN "renew_at" timestamp(3) with time zone',
    'ALTER TABLE "host_certificates" ADD COLUMN "renewal_at" timestamp(3) with time zone',
    'CREATE INDEX "host_certificates_renew_at_idx" ON "host_certificates" ("renew_at", "id")',
  ],
};
