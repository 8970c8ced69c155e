import { id, int, table, text, time } from "../store/table.ts";

declare module "../core/tables.ts" {
  interface Tables {
    readonly files: typeof files;
    readonly fileOrigins: typeof fileOrigins;
  }
}

/** Files in the blob store, each once however many rows refer to it. Rows refer to them with `onDelete("restrict")`. */
export const files = table("files", {
  id: id(),
  /** SHA-256 of the content, in hex. */
  sha256: text().unique(),
  size: int(),
  /** The key of the blob. It does not depend on the content, because the content is not known when it arrives. */
  key: text().unique(),
  created_at: time(),
  /** When the file was last uploaded. */
  used_at: time().index(),
});

/** What servers have sent when the server has downloaded files: they are asked whether that is still the same. */
export const fileOrigins = table("file_origins", {
  id: id(),
  /** SHA-256 of the URL, in hex: the URL may contain a secret. */
  url_sha256: text().unique(),
  etag: text(),
  /** SHA-256 of the content. The file may have been removed since. */
  sha256: text(),
  name: text(),
  asked_at: time().index(),
});
