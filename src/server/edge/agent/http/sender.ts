// The node key of a request: in its header or body, or in the first bytes of a large body, before all of it has arrived.
import { constants, gunzipSync } from "node:zlib";
import { type AgentReply, failure, nodeInvalid } from "../../../platform/agent-protocol/wire.ts";

/** The maximum length of a node key (characters). */
export const KEY_MAX = 256;
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

export const keyInHeader = (authorization: string | undefined): string =>
  authorization?.startsWith("NodeKey ") ? authorization.slice(8).trim() : "";

/** The node key of a request, or an error reply. It is in the body, and since agent 5.23 also in the header. */
export function nodeKey(inBody: unknown, authorization: string | undefined): string | AgentReply {
  const keyInBody = typeof inBody === "string" ? inBody : "";
  const inHeader = keyInHeader(authorization);
  if (keyInBody !== "" && inHeader !== "" && keyInBody !== inHeader)
    return failure(400, "the node keys of body and Authorization header differ");
  const key = keyInBody || inHeader;
  if (key === "" || key.length > KEY_MAX) return nodeInvalid();
  return key;
}
