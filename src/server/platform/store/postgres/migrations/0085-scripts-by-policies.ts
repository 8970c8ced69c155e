import type { Migration } from "./migration.ts";

export const migration: Migration = {
  number: 85,
  name: "scripts-by-policies",
  transactional: true,
  statements: [
    'ALTER TABLE "script_executions" ADD COLUMN "policy_id" bigint',
    'ALTER TABLE "script_executions" ADD CONSTRAINT "script_executions_policy_id_fkey" FOREIGN KEY ("policy_id") REFERENCES "policies" ("id") ON DELETE SET NULL NOT VALID',
    'CREATE TRIGGER "script_executions_policy_id_nulled" BEFORE UPDATE OF "policy_id" ON "script_executions" FOR EACH ROW WHEN (OLD."policy_id" IS NOT NULL AND NEW."policy_id" IS NULL AND NEW.revision = OLD.revision) EXECUTE FUNCTION svc_raise_revision()',
  ],
};
