import type { Migration } from "./migration.ts";

export const migration: Migration = {
  number: 53,
  name: "catalogue-offers",
  transactional: true,
  statements: [
    'CREATE TABLE "catalogue_offers" ("id" bigint CONSTRAINT "catalogue_offers_pkey" PRIMARY KEY, "install_sha256" text COLLATE "C" NOT NULL, "uninstall_sha256" text COLLATE "C" NOT NULL, "revision" bigint NOT NULL DEFAULT 1)',
    'ALTER TABLE "catalogue_offers" ADD CONSTRAINT "catalogue_offers_id_fkey" FOREIGN KEY ("id") REFERENCES "software_installers" ("id") ON DELETE CASCADE',
  ],
};
