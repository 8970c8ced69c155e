import type { Migration } from "./migration.ts";

export const migration: Migration = {
  number: 105,
  name: "machines-of-managed-agents",
  transactional: true,
  statements: [
    'ALTER TABLE "managed_agents" ADD COLUMN "hardware_uuid" text COLLATE "C"',
    'ALTER TABLE "managed_agents" ADD COLUMN "runs" json NOT NULL DEFAULT \'[]\'',
    'ALTER TABLE "managed_agents" ALTER COLUMN "runs" DROP DEFAULT',
    'ALTER TABLE "managed_agents" ADD COLUMN "conflict" json',
  ],
};
