import type { Migration } from "./migration.ts";

export const migration: Migration = {
  number: 120,
  name: "title-names",
  transactional: true,
  statements: [
    'ALTER TABLE "software_titles" ADD COLUMN "named_by" text COLLATE "C" NOT NULL DEFAULT \'\'',
    'ALTER TABLE "software_titles" ALTER COLUMN "named_by" DROP DEFAULT',
  ],
};
