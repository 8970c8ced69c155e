// GET /queries/run has its parameters in a JSON body (part C), which the framework does not hand on with a GET: they become
// query parameters before it sees the request.
import type { IncomingMessage, RequestListener } from "node:http";
import { versions } from "../../api/endpoint.ts";

const BODY_MAX = 2 * 1024 * 1024;
const paths = new Set(versions.map((version) => `/api/${version}/svc/queries/run`));

export const withGetBody =
  (next: RequestListener): RequestListener =>
  (req, res) => {
    const path = (req.url ?? "").split("?")[0]!;
    const hasBody = Number(req.headers["content-length"] ?? 0) > 0 || "transfer-encoding" in req.headers;
    if (req.method !== "GET" || !paths.has(path) || !hasBody) return next(req, res);
    void read(req).then((text) => {
      if (res.destroyed) return;
      req.url = moved(req.url!, text);
      next(req, res);
    });
  };

/** The body; null where it is too long or broke off. */
async function read(req: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of req as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size <= BODY_MAX) chunks.push(chunk);
    }
  } catch {
    return null;
  }
  return size <= BODY_MAX ? Buffer.concat(chunks).toString("utf8") : null;
}

/** What is no such body is left out: the endpoint then says what it needs. */
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
