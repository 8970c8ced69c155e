import type { Migration } from "./migration.ts";

export const migration: Migration = {
  number: 92,
  name: "software-in-files",
  transactional: true,
  statements: [
    'ALTER TABLE "package_batches" ADD COLUMN "for_user_id" bigint',
    'ALTER TABLE "store_apps" ADD COLUMN "every_platform" boolean NOT NULL DEFAULT \'false\'',
    'ALTER TABLE "store_apps" ALTER COLUMN "every_platform" DROP DEFAULT',
  ],
};
