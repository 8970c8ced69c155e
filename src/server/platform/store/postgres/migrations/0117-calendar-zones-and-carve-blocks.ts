import type { Migration } from "./migration.ts";

export const migration: Migration = {
  number: 117,
  name: "calendar-zones-and-carve-blocks",
  transactional: true,
  statements: [
    'ALTER TABLE "carves" DROP COLUMN "ahead"',
    'ALTER TABLE "calendar_events" ADD COLUMN "timezone" text COLLATE "C" NOT NULL DEFAULT \'\'',
    'ALTER TABLE "calendar_events" ALTER COLUMN "timezone" DROP DEFAULT',
  ],
};
