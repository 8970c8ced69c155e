import type { Migration } from "./migration.ts";

export const migration: Migration = {
  number: 101,
  name: "configurations-of-packages-and-store-apps-of-android",
  transactional: true,
  statements: [
    'ALTER TABLE "software_installers" ADD COLUMN "configuration" text COLLATE "C" NOT NULL DEFAULT \'\'',
    'ALTER TABLE "software_installers" ALTER COLUMN "configuration" DROP DEFAULT',
    'ALTER TABLE "store_apps" ALTER COLUMN "token_id" DROP NOT NULL',
  ],
};
