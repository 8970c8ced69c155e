import type { LogoMode } from "../../../api/settings/logo.ts";
import { id, ref, table, text } from "../../platform/store/table.ts";

declare module "../../platform/core/tables.ts" {
  interface Tables {
    readonly logos: typeof logos;
  }
}

/** The organization's logo for light and for dark backgrounds. */
export const logos = table("logos", {
  id: id(),
  mode: text<LogoMode>().unique(),
  /** The media type of the image. */
  type: text(),
  file_id: ref("files").onDelete("restrict"),
});
