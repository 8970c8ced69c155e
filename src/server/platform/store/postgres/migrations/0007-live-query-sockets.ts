import type { Migration } from "./migration.ts";

export const migration: Migration = {
  number: 7,
  name: "live-query-sockets",
  transactional: true,
  statements: ['ALTER TABLE "campaigns" ADD COLUMN "socket_until" timestamp(3) with time zone'],
};
