import type { Migration } from "./migration.ts";

export const migration: Migration = {
  number: 3,
  name: "enroll-secrets-of-two-teams",
  transactional: true,
  statements: ['ALTER TABLE "enroll_secrets" ALTER COLUMN "secret_hash" DROP NOT NULL'],
};
