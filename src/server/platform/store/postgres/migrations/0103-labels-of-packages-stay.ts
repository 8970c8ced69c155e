import type { Migration } from "./migration.ts";

export const migration: Migration = {
  number: 103,
  name: "labels-of-packages-stay",
  transactional: true,
  statements: [
    'ALTER TABLE "installer_labels" DROP CONSTRAINT "installer_labels_label_id_fkey"',
    'DROP TRIGGER "installer_labels_label_id_nulled" ON "installer_labels"',
    'ALTER TABLE "installer_labels" ADD CONSTRAINT "installer_labels_label_id_fkey" FOREIGN KEY ("label_id") REFERENCES "labels" ("id") NOT VALID',
  ],
};
