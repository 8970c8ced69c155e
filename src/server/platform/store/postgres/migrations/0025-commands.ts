import type { Migration } from "./migration.ts";

export const migration: Migration = {
  number: 25,
  name: "commands",
  transactional: true,
  statements: [
    'ALTER TABLE "mdm_commands" ADD COLUMN "command_status" text COLLATE "C" NOT NULL DEFAULT \'pending\'',
    'ALTER TABLE "mdm_commands" ALTER COLUMN "command_status" DROP DEFAULT',
  ],
};
