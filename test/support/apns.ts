// A stand-in for the push service of Apple devices on node:http2: it checks what Apple's checks.

import http2 from "node:http2";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { generate } from "selfsigned";
import type { PushCertificate } from "../../src/server/devices/apple/push/devices.ts";
import { everything } from "../../src/server/platform/store/query.ts";
import type { TestApp } from "./app.ts";
import { afterEveryTest } from "./ends.ts";

export const TOPIC = "com.apple.mgmt.External.00000000-1111-2222-3333-444444444444";

export interface ReceivedPush {
  readonly token: string;
  readonly body: unknown;
  readonly expiration: number;
  /** SHA-256 of the client's certificate; empty without TLS. */
  readonly client: string;
  readonly session: number;
}

export interface StandIn {
  readonly url: string;
  readonly received: ReceivedPush[];
  /** The most pushes that were open at a time. */
  readonly most: { open: number };
  readonly sessions: http2.ServerHttp2Session[];
  /** Answers by token; the default is 200. */
  readonly answers: Map<string, { status: number; body?: object }>;
}

const stops: (() => void)[] = [];
afterEveryTest(() => {
  for (const stop of stops.splice(0)) stop();
});

const listening = (server: { listen(port: number, host: string, done: () => void): unknown; address(): unknown }) =>
  new Promise<number>((resolve) =>
    server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port)),
  );

/** `tls`: with the stand-in's own certificate, and requiring one of the client. */
export async function startPushService(
  options: { tls?: { key: string; cert: string }; maxConcurrentStreams?: number; slow?: boolean } = {},
): Promise<StandIn> {
  const settings = { maxConcurrentStreams: options.maxConcurrentStreams ?? 1000 };
  const server = options.tls
    ? http2.createSecureServer({ ...options.tls, settings, requestCert: true, rejectUnauthorized: false })
    : http2.createServer({ settings });
  const received: ReceivedPush[] = [];
  const sessions: http2.ServerHttp2Session[] = [];
  const answers = new Map<string, { status: number; body?: object }>();
  const most = { open: 0 };
  let open = 0;
  server.on("session", (session) => {
    sessions.push(session);
    session.on("error", () => {});
  });
  server.on("stream", (stream, headers) => {
    most.open = Math.max(most.open, ++open);
    stream.on("close", () => open--);
    stream.on("error", () => {});
    let text = "";
    stream.setEncoding("utf8");
    stream.on("data", (chunk: string) => {
      text += chunk;
    });
    stream.on("end", () => {
      const answer = answerTo(headers, text);
      const reply = () => {
        if (stream.destroyed) return;
        stream.respond({ ":status": answer.status });
        stream.end(answer.body === undefined ? "" : JSON.stringify(answer.body));
      };
      if (options.slow) setTimeout(reply, 5);
      else reply();
      function answerTo(given: http2.IncomingHttpHeaders, body: string): { status: number; body?: object } {
        const token = /^\/3\/device\/([0-9a-f]{2,200})$/.exec(given[":path"] ?? "")?.[1];
        if (given[":method"] !== "POST") return { status: 405, body: { reason: "MethodNotAllowed" } };
        if (token === undefined) return { status: 400, body: { reason: "BadDeviceToken" } };
        if (given["apns-topic"] !== TOPIC) return { status: 400, body: { reason: "DeviceTokenNotForTopic" } };
        if (given["apns-push-type"] !== "mdm" || given["apns-priority"] !== "10")
          return { status: 400, body: { reason: "InvalidPushType" } };
        const socket = stream.session?.socket as unknown as TLSSocket;
        received.push({
          token,
          body: JSON.parse(body),
          expiration: Number(given["apns-expiration"]),
          client: options.tls ? (socket.getPeerCertificate().fingerprint256 ?? "") : "",
          session: sessions.indexOf(stream.session as http2.ServerHttp2Session),
        });
        return answers.get(token) ?? { status: 200 };
      }
    });
  });
  const port = await listening(server);
  stops.push(() => {
    for (const session of sessions) session.destroy();
    server.close();
  });
  return {
    url: options.tls ? `https://localhost:${port}` : `http://127.0.0.1:${port}`,
    received,
    most,
    sessions,
    answers,
  };
}

/** A proxy that only knows CONNECT. `targets` are what it was asked for, with the proxy's credentials. */
export async function startConnectProxy(): Promise<{ url: string; targets: string[] }> {
  const { connect } = await import("node:net");
  const targets: string[] = [];
  const sockets = new Set<Socket>();
  const server: Server = createServer((client) => {
    sockets.add(client);
    client.on("error", () => {});
    client.once("data", (head) => {
      const text = head.toString("latin1");
      const target = /^CONNECT ([^ ]+) HTTP\/1\.1\r\n/.exec(text)?.[1] ?? "";
      const auth = /\r\nProxy-Authorization: Basic ([^\r]+)\r\n/.exec(text)?.[1];
      targets.push(`${auth === undefined ? "" : `${Buffer.from(auth, "base64")}@`}${target}`);
      const [, port] = target.split(":");
      const upstream = connect(Number(port), "127.0.0.1", () => {
        client.write("HTTP/1.1 200 Connection established\r\nVia: test\r\n\r\n");
        client.pipe(upstream).pipe(client);
      });
      sockets.add(upstream);
      upstream.on("error", () => client.destroy());
    });
  });
  const port = await listening(server);
  stops.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { url: `http://me:secret@127.0.0.1:${port}`, targets };
}

export async function makePushCertificate(name = "push"): Promise<PushCertificate> {
  const { cert, private: key, fingerprint } = await generate([{ name: "commonName", value: name }], { keySize: 2048 });
  return { certificate: cert, key, fingerprint };
}

/** From now on, pushes are sent with this certificate. Null: with none, so nothing is sent. */
export async function setPushCertificate(
  { store, clock }: Pick<TestApp, "store" | "clock">,
  certificate: PushCertificate | null,
): Promise<void> {
  await store.applePushCertificates.delete(everything);
  if (certificate === null) return;
  await store.applePushCertificates.insert({
    ...certificate,
    created_at: clock.iso(),
    topic: TOPIC,
    common_name: "push",
    serial_number: "1",
    issuer: "",
    not_valid_before: clock.iso(),
    not_valid_after: "2049-01-01T00:00:00.000Z",
  });
}

/** The token of the n-th enrollment, in hexadecimal. */
export const tokenOf = (n: number): string => n.toString(16).padStart(64, "0");

/** Enrolls devices of the hosts, without their messages. The first one has the first token, and so on. */
export async function enrollForPushes(
  { store, clock }: Pick<TestApp, "store" | "clock">,
  hostIds: readonly number[],
): Promise<void> {
  const now = clock.iso();
  await store.appleEnrollments.insertMany(
    hostIds.map((host_id, i) => ({
      created_at: now,
      enrollment_id: `PUSHED-${host_id}`,
      host_id,
      state: "enabled" as const,
      topic: TOPIC,
      token: tokenOf(i + 1),
      token_at: now,
      push_magic: `magic-${i + 1}`,
    })),
  );
}
