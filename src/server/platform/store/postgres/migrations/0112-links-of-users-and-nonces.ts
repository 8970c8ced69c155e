import type { Migration } from "./migration.ts";

export const migration: Migration = {
  number: 112,
  name: "links-of-users-and-nonces",
  transactional: true,
  statements: [
    'ALTER TABLE "windows_nonces" DROP COLUMN "session"',
    'ALTER TABLE "device_links" ADD COLUMN "user_id" bigint',
    'ALTER TABLE "device_links" ADD COLUMN "team_id" bigint',
    'ALTER TABLE "device_links" ADD CONSTRAINT "device_links_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users" ("id") ON DELETE CASCADE NOT VALID',
  ],
};
