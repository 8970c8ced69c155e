// An external server for webhooks and other outgoing requests: it records requests and replies as configured.
import { createHmac } from "node:crypto";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { afterEveryTest } from "./ends.ts";

export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/**
 * `hang`: never a reply; `reset`: the connection ends without one; `cut`: it ends in the middle of the body; `drip`:
 * the body has no end.
 */
export type Answer =
  | { readonly status?: number; readonly headers?: Record<string, string>; readonly body?: string | Buffer }
  | "hang"
  | "reset"
  | "cut"
  | "drip";

export interface Receiver {
  readonly url: string;
  readonly port: number;
  readonly received: ReceivedRequest[];
  /** The parsed bodies of the requests. */
  readonly bodies: () => Record<string, unknown>[];
  answer: (request: ReceivedRequest, index: number) => Answer;
  /** Resolves when this many have arrived. */
  got(count: number, within?: number): Promise<void>;
  stop(): Promise<void>;
}

const open = new Set<Receiver>();
afterEveryTest(async () => {
  for (const one of open) await one.stop();
});

export async function startReceiver(
  options: { tls?: { cert: string; key: string }; host?: string; answer?: Receiver["answer"] } = {},
): Promise<Receiver> {
  const received: ReceivedRequest[] = [];
  const waiting = new Set<() => void>();
  const onRequest = (
    request: { method?: string; url?: string; headers: IncomingHttpHeaders } & AsyncIterable<Buffer>,
    reply: ServerResponse,
  ) =>
    void (async () => {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part);
      const got = {
        method: request.method ?? "",
        path: request.url ?? "",
        headers: request.headers,
        text: Buffer.concat(parts).toString(),
      };
      received.push(got);
      for (const look of waiting) look();
      give(receiver.answer(got, received.length - 1), reply);
    })().catch(() => reply.destroy());
  const server = options.tls ? createTlsServer(options.tls, onRequest) : createServer(onRequest);
  const host = options.host ?? "127.0.0.1";
  await new Promise<void>((listening) => server.listen(0, host, listening));
  const { port } = server.address() as AddressInfo;
  const receiver: Receiver = {
    url: `${options.tls ? "https" : "http"}://${host}:${port}`,
    port,
    received,
    bodies: () => received.map(({ text }) => JSON.parse(text) as Record<string, unknown>),
    answer: options.answer ?? (() => ({})),
    got(count, within = 60_000) {
      return new Promise((resolve, reject) => {
        const end = (how: () => void) => {
          clearTimeout(timer);
          waiting.delete(look);
          how();
        };
        const look = () => {
          if (received.length >= count) end(resolve);
        };
        const timer = setTimeout(
          () => end(() => reject(new Error(`${received.length} of ${count} requests came in ${within} ms`))),
          within,
        );
        waiting.add(look);
        look();
      });
    },
    async stop() {
      open.delete(receiver);
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
  open.add(receiver);
  return receiver;
}

function give(answer: Answer, reply: ServerResponse): void {
  if (answer === "hang") return;
  if (answer === "reset") {
    reply.destroy();
    return;
  }
  if (answer === "cut") {
    reply.writeHead(200, { "content-length": "1000" });
    reply.write("only so much", () => reply.destroy());
    return;
  }
  if (answer === "drip") {
    reply.writeHead(200);
    const drip = setInterval(() => reply.write("."), 20);
    reply.on("close", () => clearInterval(drip));
    return;
  }
  reply.writeHead(answer.status ?? 200, answer.headers);
  reply.end(answer.body);
}

/** Whether the request is signed with the secret (Standard Webhooks). */
export function isSigned({ headers, text }: ReceivedRequest, secret: string): boolean {
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const signed = `${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${text}`;
  const wanted = `v1,${createHmac("sha256", key).update(signed).digest("base64")}`;
  return headers["webhook-signature"] === wanted;
}
