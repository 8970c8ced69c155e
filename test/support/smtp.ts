// A real SMTP server on loopback, and the mails that it has received.
import type { AddressInfo, Server, Socket } from "node:net";
import { createServer } from "node:net";
import PostalMime, { type Email } from "postal-mime";
import { generate } from "selfsigned";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";
import { onTestFinished } from "vitest";
import type { SmtpSettings } from "../../src/api/settings/app-config.ts";
import type { TestApp } from "./app.ts";

export const SMTP_USER = "postmaster";
export const SMTP_PASSWORD = "Relay-Secret-91-éß";

export interface Mail extends Email {
  /** From the envelope. */
  readonly rcpt: readonly string[];
  readonly mailFrom: string;
  readonly raw: string;
  readonly secure: boolean;
  readonly ehlo: string;
  /** The method of the client's sign-in; null without one. */
  readonly auth: string | null;
}

export interface Smtp {
  readonly port: number;
  readonly mails: Mail[];
  /** The first mail to the address that was not returned before; waits for it. */
  mailTo(address: string): Promise<Mail>;
  /** Waits until no client is connected, so that all mails have arrived. */
  quiet(): Promise<void>;
  close(): Promise<void>;
}

let pair: Promise<{ key: string; cert: string }> | undefined;
/** A certificate of its own for localhost and 127.0.0.1. */
export function selfSigned(): Promise<{ key: string; cert: string }> {
  pair ??= generate([{ name: "commonName", value: "localhost" }], {
    keyType: "ec",
    extensions: [
      {
        name: "subjectAltName",
        altNames: [
          { type: 2, value: "localhost" },
          { type: 7, ip: "127.0.0.1" },
        ],
      },
    ],
  }).then(({ private: key, cert }) => ({ key, cert }));
  return pair;
}

export interface SmtpOptions extends SMTPServerOptions {
  /** Recipients that are refused with 550. */
  readonly refuse?: RegExp;
  /** Whether a sign-in is required. */
  readonly auth?: boolean;
}

/** Open until the test ends. */
export async function startSmtp({ refuse, auth = false, ...options }: SmtpOptions = {}): Promise<Smtp> {
  const mails: Mail[] = [];
  const given = new Set<Mail>();
  const methods = new Map<string, string>();
  let waiting: (() => void)[] = [];
  const { key, cert } = await selfSigned();
  const server = new SMTPServer({
    key,
    cert,
    authOptional: !auth,
    allowInsecureAuth: true,
    authMethods: ["PLAIN", "LOGIN", "CRAM-MD5"],
    closeTimeout: 100,
    disableReverseLookup: true,
    onAuth(proof, session, done) {
      methods.set(session.id, String(proof.method));
      const right =
        proof.username === SMTP_USER &&
        ((proof.method as string) === "CRAM-MD5"
          ? proof.validatePassword(SMTP_PASSWORD)
          : proof.password === SMTP_PASSWORD);
      if (right) return done(null, { user: SMTP_USER });
      // Some servers repeat their input.
      done(new Error(`Wrong credentials ${proof.username} ${proof.password}`));
    },
    onRcptTo({ address }, _session, done) {
      if (!refuse?.test(address)) return done();
      done(Object.assign(new Error("5.1.1 No such user here"), { responseCode: 550 }));
    },
    onData(stream, session, done) {
      const parts: Buffer[] = [];
      stream.on("data", (part: Buffer) => parts.push(part));
      stream.on("end", async () => {
        const raw = Buffer.concat(parts);
        mails.push({
          ...(await PostalMime.parse(raw)),
          rcpt: session.envelope.rcptTo.map(({ address }) => address),
          mailFrom: session.envelope.mailFrom ? session.envelope.mailFrom.address : "",
          raw: raw.toString("utf8"),
          secure: session.secure,
          ehlo: session.hostNameAppearsAs,
          auth: methods.get(session.id) ?? null,
        });
        done();
        for (const go of waiting.splice(0)) go();
      });
    },
    onClose() {
      for (const go of waiting.splice(0)) go();
    },
    ...options,
  });
  // A client that does not trust the certificate disconnects: this is not an error of the test.
  server.on("error", () => {});
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const change = () => new Promise<void>((go) => waiting.push(go));
  const smtp: Smtp = {
    port: (server.server.address() as AddressInfo).port,
    mails,
    async mailTo(address) {
      for (;;) {
        const found = mails.find((mail) => !given.has(mail) && mail.rcpt.includes(address));
        if (found) {
          given.add(found);
          return found;
        }
        await change();
      }
    },
    async quiet() {
      while (server.connections.size > 0) await change();
    },
    close: () =>
      new Promise((done) => {
        waiting = [];
        server.close(() => done());
      }),
  };
  onTestFinished(() => smtp.close());
  return smtp;
}

/** A server that sends configured lines, or nothing. */
export async function startRaw(speak: (socket: Socket) => void): Promise<number> {
  const open = new Set<Socket>();
  const server: Server = createServer((socket) => {
    open.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => open.delete(socket));
    speak(socket);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  onTestFinished(async () => {
    for (const socket of open) socket.destroy();
    await new Promise((done) => server.close(done));
  });
  return (server.address() as AddressInfo).port;
}

/** Settings for the server of the tests: by default no TLS and no password. */
export const smtpSettings = (port: number, more: Partial<SmtpSettings> = {}): SmtpSettings => ({
  enable_smtp: true,
  configured: true,
  sender_address: "svc@example.com",
  server: "127.0.0.1",
  port,
  authentication_type: "authtype_none",
  user_name: "",
  password: "",
  enable_ssl_tls: false,
  authentication_method: "authmethod_plain",
  domain: "",
  verify_ssl_certs: true,
  enable_start_tls: false,
  ...more,
});

/** An SMTP server, and the app set up to send through it. */
export async function mailOf(t: TestApp, options: SmtpOptions = {}): Promise<Smtp> {
  const smtp = await startSmtp(options);
  await useMail(t, smtp.port);
  return smtp;
}

export async function useMail(t: TestApp, port: number, more: Partial<SmtpSettings> = {}): Promise<void> {
  const { configured: _, ...settings } = smtpSettings(port, { server: "localhost", ...more });
  const response = await t.patch("/config", { smtp_settings: settings });
  if (response.status !== 200) throw new Error(await response.text());
}

/** The token of the link in a mail's text whose path begins with this text. */
export function tokenIn({ text }: Email, path: string): string {
  const found = new RegExp(`https?://[^\\s]*${path}([\\w-]{43})(?![\\w-])`).exec(text ?? "");
  if (!found) throw new Error(`no link with ${path} in: ${text}`);
  return found[1]!;
}
