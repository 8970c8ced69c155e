import type { Migration } from "./migration.ts";

export const migration: Migration = {
  number: 3,
  name: "hosts-online-since",
  transactional: true,
  statements: ['ALTER TABLE "host_seen" ADD COLUMN "online_since" timestamp(3) with time zone'],
};
