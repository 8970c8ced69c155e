import type { Migration } from "./migration.ts";

export const migration: Migration = {
  number: 100,
  name: "patch-policies-and-continuous-automations",
  transactional: true,
  statements: [
    'ALTER TABLE "policies" ADD COLUMN "resend_profile_uuid" text COLLATE "C"',
    'ALTER TABLE "policies" ADD COLUMN "continuous_automations_enabled" boolean NOT NULL DEFAULT \'false\'',
    'ALTER TABLE "policies" ALTER COLUMN "continuous_automations_enabled" DROP DEFAULT',
    'ALTER TABLE "policies" ADD COLUMN "type" text COLLATE "C" NOT NULL DEFAULT \'dynamic\'',
    'ALTER TABLE "policies" ALTER COLUMN "type" DROP DEFAULT',
    'ALTER TABLE "policies" ADD COLUMN "catalogue_app_id" bigint',
    'ALTER TABLE "policies" ADD COLUMN "patch_when_closed" boolean NOT NULL DEFAULT \'false\'',
    'ALTER TABLE "policies" ALTER COLUMN "patch_when_closed" DROP DEFAULT',
    'ALTER TABLE "policies" ADD COLUMN "notify_before_patching" boolean NOT NULL DEFAULT \'false\'',
    'ALTER TABLE "policies" ALTER COLUMN "notify_before_patching" DROP DEFAULT',
    'ALTER TABLE "policy_labels" ADD COLUMN "requires_all" boolean NOT NULL DEFAULT \'false\'',
    'ALTER TABLE "policy_labels" ALTER COLUMN "requires_all" DROP DEFAULT',
    'ALTER TABLE "query_labels" ADD COLUMN "requires_all" boolean NOT NULL DEFAULT \'false\'',
    'ALTER TABLE "query_labels" ALTER COLUMN "requires_all" DROP DEFAULT',
    'ALTER TABLE "policy_installs" ADD COLUMN "notice_uuid" text COLLATE "C"',
  ],
};
