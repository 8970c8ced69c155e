import type { Migration } from "./migration.ts";

export const migration: Migration = {
  number: 37,
  name: "sealed-commands",
  transactional: true,
  statements: ['ALTER TABLE "mdm_commands" ADD COLUMN "sealed_content" text COLLATE "C"'],
};
