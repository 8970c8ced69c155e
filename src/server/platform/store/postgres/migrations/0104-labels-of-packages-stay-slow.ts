import type { Migration } from "./migration.ts";

export const migration: Migration = {
  number: 104,
  name: "labels-of-packages-stay-slow",
  transactional: false,
  statements: ['ALTER TABLE "installer_labels" VALIDATE CONSTRAINT "installer_labels_label_id_fkey"'],
};
