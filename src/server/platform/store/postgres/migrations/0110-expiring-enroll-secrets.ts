import type { Migration } from "./migration.ts";

export const migration: Migration = {
  number: 110,
  name: "expiring-enroll-secrets",
  transactional: true,
  statements: ['ALTER TABLE "enroll_secrets" ADD COLUMN "expires_at" timestamp(3) with time zone'],
};
