import type { Migration } from "./migration.ts";

export const migration: Migration = {
  number: 64,
  name: "android-commands",
  transactional: true,
  statements: [
    'CREATE TABLE "android_command_queues" ("id" bigint CONSTRAINT "android_command_queues_pkey" PRIMARY KEY, "due" boolean NOT NULL, "wanted" text COLLATE "C" NOT NULL, "retry_at" timestamp(3) with time zone, "failures" bigint NOT NULL, "runner" text COLLATE "C" NOT NULL, "runner_until" timestamp(3) with time zone, "revision" bigint NOT NULL DEFAULT 1)',
    'CREATE TABLE "android_commands" ("id" bigint CONSTRAINT "android_commands_pkey" PRIMARY KEY, "name" text COLLATE "C" NOT NULL, "revision" bigint NOT NULL DEFAULT 1)',
    'CREATE INDEX "android_command_queues_due_idx" ON "android_command_queues" ("due")',
    'CREATE INDEX "android_command_queues_runner_until_idx" ON "android_command_queues" ("runner_until", "id")',
    'ALTER TABLE "android_commands" ADD CONSTRAINT "android_commands_name_key" UNIQUE ("name")',
    'ALTER TABLE "android_command_queues" ADD CONSTRAINT "android_command_queues_id_fkey" FOREIGN KEY ("id") REFERENCES "hosts" ("id") ON DELETE CASCADE',
    'ALTER TABLE "android_commands" ADD CONSTRAINT "android_commands_id_fkey" FOREIGN KEY ("id") REFERENCES "operations" ("id") ON DELETE CASCADE',
  ],
};
