import { bool, id, int, json, ref, table, text, time } from "../store/table.ts";

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
  /** The last block up to which all are stored; -1: none. */
  max_block: int().default(-1),
  /** Blocks beyond a gap that are stored already, ascending. */
  ahead: json<readonly number[]>().default([]),
  /** The block that came last, and its SHA-256 (hex): mostly that is the one which comes again. */
  last_block: int().nullable(),
  last_block_hash: text().default(""),
  expired: bool().default(false).index(),
  /** 24 hours after the first data came; null: none came yet. */
  expires_at: time().nullable(),
  error: text().nullable(),
});
