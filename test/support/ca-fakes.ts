// Replacements for certificate authorities: a plain HTTP server with configurable replies, an authority with the
// openssl program, and the two services without an open implementation (the hosted REST authority, the challenge
// webhook).
import { execFile } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { newKey } from "../../src/pki/x509.ts";
import { afterEveryFile, afterEveryTest } from "./ends.ts";

const run = promisify(execFile);

/** The settings with which an app may call these. */
export const allowLocal = { outbound_allow: "127.0.0.1,::1,localhost" };

export interface Request {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
  /** The number of the connection that was used, counted from 1. */
  readonly connection: number;
  readonly socket: Socket;
}
export interface Reply {
  readonly status?: number;
  readonly headers?: Record<string, string | string[]>;
  readonly body?: string | Buffer;
}
/** `null`: no reply at all. */
export type Answer = (request: Request) => Reply | null | Promise<Reply | null>;

export interface Fake {
  readonly url: string;
  readonly requests: Request[];
  answer: Answer;
  close(): Promise<void>;
}

const open = new Set<Fake>();
afterEveryTest(async () => {
  for (const fake of open) await fake.close();
});

async function read(message: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of message) parts.push(part as Buffer);
  return Buffer.concat(parts);
}

/** Listens on loopback until the end of the test. */
export async function startFake(answer: Answer, tls?: { key: string; cert: string }): Promise<Fake> {
  const requests: Request[] = [];
  const connections = new Map<Socket, number>();
  const handle = async (message: IncomingMessage, response: ServerResponse) => {
    const { socket } = message;
    if (!connections.has(socket)) connections.set(socket, connections.size + 1);
    const request: Request = {
      method: message.method ?? "",
      url: new URL(message.url ?? "/", fake.url),
      headers: message.headers,
      body: await read(message),
      connection: connections.get(socket)!,
      socket,
    };
    requests.push(request);
    const reply = await fake.answer(request);
    if (reply === null) return;
    response.writeHead(reply.status ?? 200, reply.headers ?? {});
    response.end(reply.body ?? "");
  };
  const listener = (message: IncomingMessage, response: ServerResponse) =>
    void handle(message, response).catch(() => response.destroy());
  const server = tls ? createSecureServer(tls, listener) : createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const fake: Fake = {
    url: `${tls ? "https" : "http"}://${tls ? "localhost" : "127.0.0.1"}:${port}`,
    requests,
    answer,
    async close() {
      open.delete(fake);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  open.add(fake);
  return fake;
}

const dirs: string[] = [];
afterEveryFile(() => {
  for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true, force: true });
});

export const newDir = (): string => {
  const dir = mkdtempSync(join(tmpdir(), "svc-ca-"));
  dirs.push(dir);
  return dir;
};

export const openssl = async (dir: string, ...args: string[]): Promise<string> =>
  (await run("openssl", args, { cwd: dir })).stdout;

const P256 = ["-pkeyopt", "ec_paramgen_curve:P-256"];

/** A new RSA key as a file. openssl takes up to a second to make one; those of `newKey` are kept for other files. */
export const writeKey = async (dir: string, name: string): Promise<void> =>
  writeFile(join(dir, name), (await newKey()).export({ type: "pkcs8", format: "pem" }));

/** An authority created and run by the openssl program, without any code of this project. */
export class OpensslCa {
  readonly dir = newDir();
  #signed = 0;

  static async make(name = "Test CA"): Promise<OpensslCa> {
    const ca = new OpensslCa();
    await writeKey(ca.dir, "ca.key");
    await openssl(
      ca.dir,
      ...["req", "-x509", "-new", "-key", "ca.key", "-out", "ca.pem", "-days", "30", "-subj", `/CN=${name}`],
    );
    return ca;
  }

  readonly file = (name: string) => join(this.dir, name);

  /** A certificate for a request, PEM. */
  async sign(request: Buffer, days = "30"): Promise<string> {
    const name = `request-${++this.#signed}`;
    await writeFile(this.file(`${name}.der`), request);
    await openssl(
      this.dir,
      ...["x509", "-req", "-inform", "DER", "-in", `${name}.der`, "-CA", "ca.pem", "-CAkey", "ca.key"],
      ...["-set_serial", String(1000 + this.#signed), "-days", days, "-copy_extensions", "copy", "-out", `${name}.pem`],
    );
    return readFile(this.file(`${name}.pem`), "utf8");
  }

  /** Certificates as a PKCS #7 message without signers, DER. */
  async bundle(...certificates: string[]): Promise<Buffer> {
    const name = `bundle-${++this.#signed}`;
    await writeFile(this.file(`${name}.pem`), certificates.join("\n"));
    await openssl(
      this.dir,
      ...["crl2pkcs7", "-nocrl", "-certfile", `${name}.pem`, "-outform", "DER", "-out", `${name}.p7b`],
    );
    return readFile(this.file(`${name}.p7b`));
  }

  certificate(): Promise<string> {
    return readFile(this.file("ca.pem"), "utf8");
  }

  /** Key and certificate of a web server on this machine. */
  async server(): Promise<{ key: string; cert: string }> {
    const [key, request] = ["server.key", "server.csr"];
    await openssl(
      this.dir,
      ...["req", "-new", "-newkey", "ec", ...P256, "-nodes", "-keyout", key, "-outform", "DER", "-out", request],
      ...["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"],
    );
    const cert = await this.sign(await readFile(this.file(request)));
    return { key: await readFile(this.file(key), "utf8"), cert };
  }
}

export interface RequestOptions {
  readonly subject?: string;
  readonly san?: string;
  readonly key?: "rsa:2048" | "ec";
  /** Further extensions in openssl's notation. */
  readonly extensions?: readonly string[];
}

/** A certificate request by the openssl program, PEM. */
export async function makeCsr({
  subject = "/CN=host",
  san,
  key = "rsa:2048",
  extensions = [],
}: RequestOptions = {}): Promise<string> {
  const dir = newDir();
  if (key === "ec") await openssl(dir, "genpkey", "-algorithm", "EC", ...P256, "-out", "key.pem");
  else await writeKey(dir, "key.pem");
  await openssl(
    dir,
    ...["req", "-new", "-key", "key.pem", "-out", "request.pem", "-subj", subject],
    ...(san === undefined ? [] : ["-addext", `subjectAltName=${san}`]),
    ...extensions.flatMap((extension) => ["-addext", extension]),
  );
  return readFile(join(dir, "request.pem"), "utf8");
}

/** The names of a person in the form that the identity rules require. */
export const personSan = (email: string, principal: string): string =>
  `email:${email},otherName:1.3.6.1.4.1.311.20.2.3;UTF8:${principal}`;

export const API_TOKEN = "hosted-api-token";

/** The hosted authority with a REST API, as its public reference describes it. */
export async function startHostedCa(ca: OpensslCa): Promise<Fake & { profile: { id: string; status: string } }> {
  const profile = { id: "profile-1", status: "Active" };
  const json = (status: number, value: unknown): Reply => ({
    status,
    headers: { "content-type": "application/json" },
    body: JSON.stringify(value),
  });
  const fake = await startFake(async ({ method, url, headers, body }) => {
    if (headers["x-api-key"] !== API_TOKEN)
      return json(401, { errors: [{ code: "access_denied", message: "Unauthorized: this key is unknown." }] });
    if (method === "GET" && url.pathname.startsWith("/mpki/api/v2/profile/")) {
      if (url.pathname !== `/mpki/api/v2/profile/${profile.id}`)
        return json(403, { errors: [{ code: "forbidden", message: "no such profile" }] });
      return json(200, { id: profile.id, name: "Devices", status: profile.status });
    }
    if (method !== "POST" || url.pathname !== "/mpki/api/v1/certificate") return json(404, {});
    const order = JSON.parse(body.toString("utf8"));
    if (order.profile?.id !== profile.id || order.delivery_format !== "x509" || !order.seat?.seat_id)
      return json(400, { errors: [{ code: "invalid_input", message: "profile, seat or format are missing" }] });
    const request = Buffer.from(order.csr.replace(/-----[^-]+-----|\s/g, ""), "base64");
    const certificate = await ca.sign(request);
    const serial_number = new X509Certificate(certificate).serialNumber;
    return json(201, { serial_number, delivery_format: "x509", certificate });
  });
  return Object.assign(fake, { profile });
}

/** Returns a challenge if the password is right. */
export async function startChallengeWebhook(username: string, password: string): Promise<Fake> {
  let given = 0;
  const wanted = `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
  return startFake(({ method, headers }) =>
    method === "POST" && headers.authorization === wanted
      ? { body: `challenge-${++given}` }
      : { status: 401, body: "who are you?" },
  );
}

/** An EST endpoint that signs every request, and a request for it: for tests about other things. */
export async function startSigning(): Promise<{ url: string; request: string }> {
  const ca = await OpensslCa.make();
  const fake = await startFake(async ({ body }) => {
    const certificate = await ca.sign(Buffer.from(body.toString("latin1"), "base64"));
    return { body: (await ca.bundle(certificate)).toString("base64") };
  });
  return { url: fake.url, request: await makeCsr() };
}
