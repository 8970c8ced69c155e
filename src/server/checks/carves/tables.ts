import { bool, id, int, ref, table, text, time } from "../../platform/store/table.ts";

declare module "../../platform/core/tables.ts" {
  interface Tables {
    readonly carves: typeof carves;
  }
}

export const carves = table("carves", {
  id: id(),
  created_at: time().index(),
  /** When the last block arrived; before the first one, when the carve began. */
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
  /** All blocks up to this one are stored; -1: none. */
  max_block: int().default(-1),
  /** The block that arrived last and its SHA-256 (hexadecimal). A repeated block is usually this one. */
  last_block: int().nullable(),
  last_block_hash: text().default(""),
  expired: bool().default(false).index(),
  /** 24 hours after the first block; null: none has arrived. */
  expires_at: time().nullable(),
  error: text().nullable(),
});
