import type { Migration } from "./migration.ts";

export const migration: Migration = {
  number: 90,
  name: "host-names",
  transactional: true,
  statements: [
    'CREATE TABLE "host_names" ("id" bigint CONSTRAINT "host_names_pkey" PRIMARY KEY, "status" text COLLATE "C" NOT NULL, "detail" text COLLATE "C" NOT NULL, "name" text COLLATE "C", "digest" text COLLATE "C" NOT NULL, "step" text COLLATE "C", "command_uuid" text COLLATE "C", "changed_at" timestamp(3) with time zone NOT NULL, "revision" bigint NOT NULL DEFAULT 1)',
    'CREATE INDEX "host_names_status_idx" ON "host_names" ("status", "id")',
    'CREATE INDEX "host_names_step_idx" ON "host_names" ("step", "id")',
    'ALTER TABLE "host_names" ADD CONSTRAINT "host_names_id_fkey" FOREIGN KEY ("id") REFERENCES "hosts" ("id") ON DELETE CASCADE',
  ],
};
