import type { Migration } from "./migration.ts";

export const migration: Migration = {
  number: 28,
  name: "apple-setups",
  transactional: true,
  statements: [
    'CREATE TABLE "apple_setups" ("id" bigint CONSTRAINT "apple_setups_pkey" PRIMARY KEY, "started_at" timestamp(3) with time zone NOT NULL, "due_at" timestamp(3) with time zone NOT NULL, "done" json NOT NULL, "begun" text COLLATE "C", "released_at" timestamp(3) with time zone, "revision" bigint NOT NULL DEFAULT 1)',
    'CREATE INDEX "apple_setups_released_at_idx" ON "apple_setups" ("released_at", "id")',
    'ALTER TABLE "apple_setups" ADD CONSTRAINT "apple_setups_id_fkey" FOREIGN KEY ("id") REFERENCES "hosts" ("id") ON DELETE CASCADE',
  ],
};
