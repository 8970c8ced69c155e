import type { Migration } from "./migration.ts";

export const migration: Migration = {
  number: 102,
  name: "usual-paths-of-software",
  transactional: true,
  statements: [
    'ALTER TABLE "software" ADD COLUMN "usual_path" text COLLATE "C" NOT NULL DEFAULT \'\'',
    'ALTER TABLE "software" ALTER COLUMN "usual_path" DROP DEFAULT',
    'ALTER TABLE "host_software" ADD COLUMN "home" text COLLATE "C" NOT NULL DEFAULT \'\'',
    'ALTER TABLE "host_software" ALTER COLUMN "home" DROP DEFAULT',
  ],
};
