import type { Migration } from "./migration.ts";

export const migration: Migration = {
  number: 109,
  name: "hosts-by-hardware-slow",
  transactional: false,
  statements: [
    'CREATE INDEX CONCURRENTLY IF NOT EXISTS "hosts_uuid_search_idx" ON "hosts" ("uuid_search")',
    'CREATE INDEX CONCURRENTLY IF NOT EXISTS "hosts_hardware_serial_search_idx" ON "hosts" ("hardware_serial_search")',
  ],
};
