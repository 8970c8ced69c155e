// A push service for simulated devices: the server sends its pushes here instead of to Apple's (setting `apns_url`).
import http2 from "node:http2";
import type { AddressInfo } from "node:net";

export interface PushService {
  readonly url: string;
  stop(): Promise<void>;
}

interface PushServiceOptions {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** Called with the token and the magic of each push. False: no device has this token. */
  wake(token: string, magic: string): boolean;
}

const PATH = /^\/3\/device\/([0-9a-f]{2,200})$/;
/** A push has fewer bytes than this. */
const BODY_MAX = 4096;

export async function startPushService({ host, port, wake }: PushServiceOptions): Promise<PushService> {
  const server = http2.createServer();
  const sessions = new Set<http2.ServerHttp2Session>();
  server.on("session", (session) => {
    sessions.add(session);
    session.on("error", () => {});
    session.on("close", () => sessions.delete(session));
  });
  server.on("stream", (stream, headers) => {
    let text = "";
    stream.on("error", () => {});
    stream.setEncoding("utf8");
    stream.on("data", (chunk: string) => {
      if (text.length <= BODY_MAX) text += chunk;
    });
    stream.on("end", () => {
      const refusal = refusalOf(headers, text, wake);
      if (stream.destroyed) return;
      stream.respond({ ":status": refusal?.status ?? 200 });
      stream.end(refusal === null ? "" : JSON.stringify({ reason: refusal.reason }));
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  const { port: actual } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${actual}`,
    stop: () =>
      new Promise((resolve) => {
        for (const session of sessions) session.destroy();
        server.close(() => resolve());
      }),
  };
}

/** Null: the push was accepted. */
function refusalOf(
  headers: http2.IncomingHttpHeaders,
  text: string,
  wake: PushServiceOptions["wake"],
): { status: number; reason: string } | null {
  if (headers[":method"] !== "POST") return { status: 405, reason: "MethodNotAllowed" };
  const token = PATH.exec(headers[":path"] ?? "")?.[1];
  if (token === undefined) return { status: 400, reason: "BadDeviceToken" };
  if (headers["apns-push-type"] !== "mdm") return { status: 400, reason: "InvalidPushType" };
  if (headers["apns-topic"] === undefined) return { status: 400, reason: "MissingTopic" };
  if (text.length > BODY_MAX) return { status: 413, reason: "PayloadTooLarge" };
  const magic = magicIn(text);
  if (magic === null) return { status: 400, reason: "PayloadEmpty" };
  return wake(token, magic) ? null : { status: 410, reason: "Unregistered" };
}

function magicIn(text: string): string | null {
  try {
    const { mdm } = JSON.parse(text) as { mdm?: unknown };
    return typeof mdm === "string" ? mdm : null;
  } catch {
    return null;
  }
}
