import { id, packed, table, text } from "../../platform/store/table.ts";

declare module "../../platform/core/tables.ts" {
  interface Tables {
    readonly scriptTexts: typeof scriptTexts;
  }
}

/** Texts of scripts, each stored once however many hosts have run it. */
export const scriptTexts = table("script_texts", {
  id: id(),
  /** SHA-256, hexadecimal. */
  digest: text().unique(),
  content: packed<string>(),
});
