import { bool, id, int, ref, table, text, time } from "../store/table.ts";

export const carves = table("carves", {
  id: id(),
  created_at: time().index(),
  /** When the last block came; until then when it began. */
  updated_at: time(),
  host_id: ref("hosts"),
  name: text(),
  block_count: int(),
  /** Bytes. */
  block_size: int(),
  /** Bytes. */
  carve_size: int(),
  carve_id: text().index(),
  request_id: text(),
  session_id: text().unique(),
  /** The last block that is stored; -1: none. */
  max_block: int().default(-1),
  /** SHA-256 (hex) of the last block: the same one again is a repetition. */
  last_block_hash: text().default(""),
  expired: bool().default(false).index(),
  /** 24 hours after the first data came; null: none came yet. */
  expires_at: time().nullable(),
  error: text().nullable(),
});
