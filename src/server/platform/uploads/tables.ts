import { id, int, ref, table, text, time } from "../store/table.ts";

declare module "../core/tables.ts" {
  interface Tables {
    readonly uploads: typeof uploads;
    readonly uploadPieces: typeof uploadPieces;
  }
}

export const uploads = table("uploads", {
  id: id(),
  user_id: ref("users"),
  created_at: time(),
  expires_at: time().index(),
  /** The client's name for the file. */
  name: text(),
  /** Bytes of the whole content. */
  size: int(),
  /** SHA-256 of the whole content, in hex. Null if the client has not sent it, and the file is not stored. */
  sha256: text().nullable(),
  /** When the file was modified, as the client has sent it. */
  modified_at: time().nullable(),
  /** Number of bytes that have arrived. It is the size only if the file is stored. */
  received: int().default(0),
  file_id: ref("files").nullable().onDelete("restrict"),
});

/** What has arrived of an incomplete upload. Together, the pieces have no gaps. */
export const uploadPieces = table("upload_pieces", {
  id: id(),
  upload_id: ref("uploads"),
  /** Position of its first byte. */
  start: int(),
  /** The key of the blob. */
  key: text().unique(),
});
