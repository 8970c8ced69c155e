import type { Migration } from "./migration.ts";

export const migration: Migration = {
  number: 19,
  name: "operation-lanes",
  transactional: true,
  statements: [
    'ALTER TABLE "operations" ADD COLUMN "lane" text COLLATE "C" NOT NULL DEFAULT \'host\'',
    'ALTER TABLE "operations" ALTER COLUMN "lane" DROP DEFAULT',
  ],
};
