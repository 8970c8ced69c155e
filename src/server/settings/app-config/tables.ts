import { id, json, table, text, time } from "../../platform/store/table.ts";

declare module "../../platform/core/tables.ts" {
  interface Tables {
    readonly configSections: typeof configSections;
  }
}

/** One row per section. Its secrets are encrypted in a separate column: JSON, a list of paths and values. */
export const configSections = table("config_sections", {
  id: id(),
  section: text().unique(),
  updated_at: time(),
  value: json<Record<string, unknown>>(),
  secrets: text().secret().nullable(),
});
