import type { Migration } from "./migration.ts";

export const migration: Migration = {
  number: 24,
  name: "devices-leave",
  transactional: true,
  statements: [
    'ALTER TABLE "host_mdm" ADD COLUMN "leaving" boolean NOT NULL DEFAULT \'false\'',
    'ALTER TABLE "host_mdm" ALTER COLUMN "leaving" DROP DEFAULT',
  ],
};
