// GET /queries/run has its parameters in a JSON body, which h3 does not read for GET. They are moved into the URL
// before h3 handles the request.
import type { IncomingMessage, RequestListener } from "node:http";
import { versions } from "../../../api/paths.ts";
import { readBytes } from "../../platform/core/http/body.ts";
import type { BodyRoom } from "../../platform/core/http/body-room.ts";

/** Ten thousand ids. Nobody has looked at the caller's token yet. */
const BODY_MAX = 64 * 1024;
const paths = new Set(versions.map((version) => `/api/${version}/svc/queries/run`));

export const withGetBody =
  (next: RequestListener, room: BodyRoom): RequestListener =>
  (req, res) => {
    const path = (req.url ?? "").split("?")[0]!;
    const hasBody = Number(req.headers["content-length"] ?? 0) > 0 || "transfer-encoding" in req.headers;
    if (req.method !== "GET" || !paths.has(path) || !hasBody) return next(req, res);
    void read(req, room).then((text) => {
      if (res.destroyed) return;
      req.url = moved(req.url!, text);
      next(req, res);
    });
  };

/** The body; null if it is too long or incomplete. */
async function read(req: IncomingMessage, room: BodyRoom): Promise<string | null> {
  const sender = room.byAddress(req.socket.remoteAddress ?? "");
  const source = req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
  try {
    return (await readBytes(source, null, BODY_MAX, { room, sender })).toString("utf8");
  } catch {
    return null;
  }
}

/** Anything but a JSON object is ignored; the endpoint then reports the missing parameters. */
function moved(url: string, text: string | null): string {
  let body: unknown = null;
  try {
    body = text === null ? null : JSON.parse(text);
  } catch {
    return url;
  }
  if (typeof body !== "object" || body === null) return url;
  const query = new URLSearchParams(url.split("?")[1] ?? "");
  for (const name of ["query_ids", "host_ids"] as const) {
    const ids = (body as Record<string, unknown>)[name];
    if (Array.isArray(ids)) query.set(name, ids.map(String).join(","));
  }
  return `${url.split("?")[0]}?${query}`;
}
