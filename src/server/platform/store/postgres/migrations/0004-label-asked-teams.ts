import type { Migration } from "./migration.ts";

export const migration: Migration = {
  number: 4,
  name: "label-asked-teams",
  transactional: true,
  statements: ['ALTER TABLE "labels" ADD COLUMN "asked_teams" json'],
};
