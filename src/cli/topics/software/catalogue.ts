// Columns of the catalogue of maintained apps.
import { CatalogueApp } from "../../../api/software/catalogue.ts";
import type { View } from "../../output/output.ts";

export const catalogueColumns = [
  { key: "id" },
  { key: "name" },
  { key: "platform" },
  { key: "version" },
  { key: "slug", spare: 1 },
];

export const catalogueView: View = { schema: () => CatalogueApp, columns: catalogueColumns };
