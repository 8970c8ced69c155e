import { id, int, table, text, time } from "../../../platform/store/table.ts";

declare module "../../../platform/core/tables.ts" {
  interface Tables {
    readonly vulnerabilityFeeds: typeof vulnerabilityFeeds;
  }
}

/** `missing`: the place has no such file. `failed`: the data of the last successful import is still used. */
type FeedState = "waiting" | "importing" | "current" | "missing" | "failed";

/** The feeds of vulnerability data, and the reference file that each was last turned into. */
export const vulnerabilityFeeds = table("vulnerability_feeds", {
  id: id(),
  name: text().unique(),
  state: text<FeedState>(),
  error: text().default(""),
  /** What the server said of the file, for conditional requests. */
  etag: text().default(""),
  last_modified: text().default(""),
  /** SHA-256 of the content without compression. */
  digest: text().default(""),
  /** Key of the reference file among the blobs; empty: none. */
  blob: text().default(""),
  size: int().default(0),
  records: int().default(0),
  /** Bytes of the feed that the running import has read, and of how many (0: unknown). */
  bytes_read: int().default(0),
  bytes_total: int().default(0),
  checked_at: time().nullable(),
  imported_at: time().nullable(),
});
