import { id, int, table, text, time } from "../store/table.ts";

declare module "../core/tables.ts" {
  interface Tables {
    readonly files: typeof files;
  }
}

/** Files in the blob store, each once however many rows refer to it. Rows refer to them with `onDelete("restrict")`. */
export const files = table("files", {
  id: id(),
  /** Of the content, in hex. */
  sha256: text().unique(),
  size: int(),
  /** The key of the blob. It does not depend on the content, because the content is not known when it arrives. */
  key: text().unique(),
  created_at: time(),
  /** When it was last uploaded. */
  used_at: time().index(),
});
