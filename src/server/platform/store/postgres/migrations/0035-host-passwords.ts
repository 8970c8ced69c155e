import type { Migration } from "./migration.ts";

export const migration: Migration = {
  number: 35,
  name: "host-passwords",
  transactional: true,
  statements: [
    'CREATE TABLE "recovery_locks" ("id" bigint CONSTRAINT "recovery_locks_pkey" PRIMARY KEY, "status" text COLLATE "C" NOT NULL, "detail" text COLLATE "C" NOT NULL, "password" text COLLATE "C", "updated_at" timestamp(3) with time zone, "next" text COLLATE "C", "removing" boolean NOT NULL, "step" text COLLATE "C", "command_uuid" text COLLATE "C", "revision" bigint NOT NULL DEFAULT 1)',
    'CREATE TABLE "managed_accounts" ("id" bigint CONSTRAINT "managed_accounts_pkey" PRIMARY KEY, "name" text COLLATE "C" NOT NULL, "status" text COLLATE "C" NOT NULL, "detail" text COLLATE "C" NOT NULL, "password" text COLLATE "C", "updated_at" timestamp(3) with time zone, "next" text COLLATE "C", "step" text COLLATE "C", "account_guid" text COLLATE "C", "requested_by" bigint, "command_uuid" text COLLATE "C", "revision" bigint NOT NULL DEFAULT 1)',
    'CREATE INDEX "recovery_locks_status_idx" ON "recovery_locks" ("status", "id")',
    'CREATE INDEX "recovery_locks_step_idx" ON "recovery_locks" ("step", "id")',
    'CREATE INDEX "managed_accounts_requested_by_idx" ON "managed_accounts" ("requested_by")',
    'ALTER TABLE "recovery_locks" ADD CONSTRAINT "recovery_locks_id_fkey" FOREIGN KEY ("id") REFERENCES "hosts" ("id") ON DELETE CASCADE',
    'ALTER TABLE "managed_accounts" ADD CONSTRAINT "managed_accounts_id_fkey" FOREIGN KEY ("id") REFERENCES "hosts" ("id") ON DELETE CASCADE',
    'ALTER TABLE "managed_accounts" ADD CONSTRAINT "managed_accounts_requested_by_fkey" FOREIGN KEY ("requested_by") REFERENCES "users" ("id") ON DELETE SET NULL',
    'CREATE TRIGGER "managed_accounts_requested_by_nulled" BEFORE UPDATE OF "requested_by" ON "managed_accounts" FOR EACH ROW WHEN (OLD."requested_by" IS NOT NULL AND NEW."requested_by" IS NULL AND NEW.revision = OLD.revision) EXECUTE FUNCTION svc_raise_revision()',
  ],
};
