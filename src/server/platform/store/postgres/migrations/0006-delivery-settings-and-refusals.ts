import type { Migration } from "./migration.ts";

export const migration: Migration = {
  number: 6,
  name: "delivery-settings-and-refusals",
  transactional: true,
  statements: [
    'ALTER TABLE "activities" ADD COLUMN "webhook_url" text COLLATE "C"',
    'ALTER TABLE "outbox" ADD COLUMN "refused_since" timestamp(3) with time zone',
  ],
};
