import type { Migration } from "./migration.ts";

export const migration: Migration = {
  number: 10,
  name: "host-requests-of-activities",
  transactional: true,
  statements: ['ALTER TABLE "activities" ADD COLUMN "host_requests" json'],
};
