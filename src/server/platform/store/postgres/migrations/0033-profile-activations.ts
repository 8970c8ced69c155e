import type { Migration } from "./migration.ts";

export const migration: Migration = {
  number: 33,
  name: "profile-activations",
  transactional: true,
  statements: [
    'ALTER TABLE "configuration_profiles" ADD COLUMN "activation_identifier" text COLLATE "C"',
    'ALTER TABLE "profile_contents" ADD COLUMN "activation" bytea',
    'ALTER TABLE "profile_contents" ALTER COLUMN "activation" SET STORAGE EXTERNAL',
  ],
};
