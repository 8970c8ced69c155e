import type { Migration } from "./migration.ts";

export const migration: Migration = {
  number: 5,
  name: "asked-revisions",
  transactional: true,
  statements: [
    'ALTER TABLE "hosts" ADD COLUMN "policies_revision" bigint',
    'ALTER TABLE "labels" ADD COLUMN "asked_revision" bigint NOT NULL DEFAULT \'0\'',
    'ALTER TABLE "labels" ALTER COLUMN "asked_revision" DROP DEFAULT',
    'ALTER TABLE "policies" ADD COLUMN "asked_revision" bigint NOT NULL DEFAULT \'0\'',
    'ALTER TABLE "policies" ALTER COLUMN "asked_revision" DROP DEFAULT',
  ],
};
