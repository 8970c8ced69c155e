import type { Migration } from "./migration.ts";

export const migration: Migration = {
  number: 27,
  name: "apple-updates",
  transactional: true,
  statements: [
    'CREATE TABLE "apple_updates" ("id" bigint CONSTRAINT "apple_updates_pkey" PRIMARY KEY, "version" text COLLATE "C" NOT NULL, "deadline" text COLLATE "C" NOT NULL, "is_declared" boolean NOT NULL, "revision" bigint NOT NULL DEFAULT 1)',
    'ALTER TABLE "apple_updates" ADD CONSTRAINT "apple_updates_id_fkey" FOREIGN KEY ("id") REFERENCES "hosts" ("id") ON DELETE CASCADE',
  ],
};
