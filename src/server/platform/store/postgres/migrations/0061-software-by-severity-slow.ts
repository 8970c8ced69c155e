import type { Migration } from "./migration.ts";

export const migration: Migration = {
  number: 61,
  name: "software-by-severity-slow",
  transactional: false,
  statements: [
    'CREATE INDEX CONCURRENTLY IF NOT EXISTS "software_cvss_score_idx" ON "software" ("cvss_score", "id")',
    'CREATE INDEX CONCURRENTLY IF NOT EXISTS "software_epss_probability_idx" ON "software" ("epss_probability", "id")',
    'CREATE INDEX CONCURRENTLY IF NOT EXISTS "software_cve_published_idx" ON "software" ("cve_published", "id")',
    'CREATE INDEX CONCURRENTLY IF NOT EXISTS "software_cisa_known_exploit_idx" ON "software" ("cisa_known_exploit")',
  ],
};
