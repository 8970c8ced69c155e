// Identifies the sender of a large body before all of it has arrived, by the node key in its header or first bytes.
import { constants, gunzipSync } from "node:zlib";

/** Agents send the node key first, or last. */
const LOOKED_AT = 1024;
/** Bytes looked at of a compressed body; this many inflate to at most half a megabyte. */
const LOOKED_AT_GZIP = 512;
const INFLATED_MAX = 1024 * 1024;
const KEY = /"node_key"\s*:\s*"([^"\\]{1,256})"/;

/** The node key in the first bytes of a body, or in the last ones of a whole body; null: there is none. Used only to choose the budget that the body is charged to. */
export function keyNamedBy(first: Buffer, encoding: string | undefined): string | null {
  const isGzip = encoding !== undefined && /gzip/i.test(encoding);
  const text = isGzip ? inflatedStart(first) : first.toString("latin1", 0, LOOKED_AT);
  const key = KEY.exec(text)?.[1];
  if (key !== undefined || isGzip || first.length <= LOOKED_AT) return key ?? null;
  return KEY.exec(first.toString("latin1", first.length - LOOKED_AT))?.[1] ?? null;
}

function inflatedStart(first: Buffer): string {
  try {
    const part = first.subarray(0, LOOKED_AT_GZIP);
    const options = { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: INFLATED_MAX };
    return gunzipSync(part, options).toString("latin1", 0, LOOKED_AT);
  } catch {
    return "";
  }
}
