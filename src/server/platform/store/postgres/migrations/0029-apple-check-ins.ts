import type { Migration } from "./migration.ts";

export const migration: Migration = {
  number: 29,
  name: "apple-check-ins",
  transactional: true,
  statements: ['ALTER TABLE "apple_enrollments" DROP COLUMN "checked_in_at"'],
};
