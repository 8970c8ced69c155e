import type { Migration } from "./migration.ts";

export const migration: Migration = {
  number: 108,
  name: "late-digests",
  transactional: true,
  statements: [
    'ALTER TABLE "uploads" ALTER COLUMN "sha256" DROP NOT NULL',
    'ALTER TABLE "uploads" ADD COLUMN "modified_at" timestamp(3) with time zone',
  ],
};
