// What replies of other servers contain.
import type { OutboundReply } from "./fetch.ts";

/** The body as JSON; null if it is none. */
export function jsonOf({ body }: Pick<OutboundReply, "body">): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    return null;
  }
}

/** How many seconds the server asks to wait before the next request; null: it names none, or a date. */
export function retryAfterOf({ headers }: Pick<OutboundReply, "headers">): number | null {
  const wait = Number(headers.get("retry-after") ?? Number.NaN);
  return Number.isFinite(wait) && wait >= 0 ? wait : null;
}
