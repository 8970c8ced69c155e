import type { Migration } from "./migration.ts";

export const migration: Migration = {
  number: 23,
  name: "apple-device-returns",
  transactional: true,
  statements: ['ALTER TABLE "apple_enrollments" ADD COLUMN "returns_after" timestamp(3) with time zone'],
};
