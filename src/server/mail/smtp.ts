// One mail to the configured server: connects, proves who it is, hands over, and ends in bounded time whatever the server does.
import { connect, type Socket } from "node:net";
import type { SMTPTransportOptions } from "nodemailer/lib/smtp-transport";
import type { SmtpSettings } from "../../api/app-config.ts";
import { BlockedAddress } from "../core/outbound-addresses.ts";
import type { Settings } from "../core/settings.ts";
import { relayLookup } from "./addresses.ts";
import { systemTrust } from "./trust.ts";

export interface Letter {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html?: string | undefined;
}

export interface Posting {
  /** The name beside the sender's address. */
  readonly from: string;
  readonly date: Date;
  readonly timeout: number;
  readonly outbound: Pick<Settings, "outbound_allow">;
  readonly signal?: AbortSignal;
}

/** The mail was not taken; the message is one for an admin, without the password. */
export class NotSent extends Error {}

/** With neither user nor password mail goes out without signing in, whatever the type says. */
const signsIn = ({ authentication_type: type, user_name: user, password }: SmtpSettings): boolean =>
  type !== "none" && type !== "authtype_none" && (user !== "" || password !== "");

const methods: Readonly<Record<string, string>> = {
  authmethod_plain: "PLAIN",
  authmethod_cram_md5: "CRAM-MD5",
  authmethod_login: "LOGIN",
};

/** The port on which TLS begins with the first byte (RFC 8314, 3.3). */
const SMTPS = 465;

/**
 * With both kinds of TLS turned on (the defaults) the connection is secure in any case: port 465 takes TLS at once, others STARTTLS.
 */
export const secureAtOnce = (smtp: Pick<SmtpSettings, "enable_ssl_tls" | "enable_start_tls" | "port">): boolean =>
  smtp.enable_ssl_tls && (!smtp.enable_start_tls || smtp.port === SMTPS);

/** Loads what sending needs: the first mail would take noticeably longer. */
export const readyToSend = async (): Promise<void> => void (await Promise.all([import("nodemailer"), systemTrust()]));

export async function deliver(smtp: SmtpSettings, letter: Letter, posting: Posting): Promise<void> {
  const stop = AbortSignal.timeout(posting.timeout);
  const signal = posting.signal ? AbortSignal.any([stop, posting.signal]) : stop;
  try {
    const { createTransport } = await import("nodemailer");
    const transport = createTransport(await optionsOf(smtp, posting, signal));
    await transport.sendMail({
      from: { name: plain(posting.from), address: smtp.sender_address },
      to: { name: "", address: letter.to },
      subject: plain(letter.subject),
      text: letter.text,
      ...(letter.html === undefined ? {} : { html: letter.html }),
      date: posting.date,
      // No out-of-office note is to answer (RFC 3834).
      headers: { "Auto-Submitted": "auto-generated" },
      signal,
    });
  } catch (error) {
    if (posting.signal?.aborted) throw new NotSent("the server ended before the mail had left");
    throw new NotSent(reasonOf(error, smtp, signal, posting.timeout));
  }
}

/** Names that people enter stand in headers: on one line. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what ends a header
const plain = (text: string): string => text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, " ").trim();

async function optionsOf(
  smtp: SmtpSettings,
  { timeout, outbound }: Posting,
  signal: AbortSignal,
): Promise<SMTPTransportOptions> {
  const { server: host, port } = smtp;
  const secure = secureAtOnce(smtp);
  const lookup = await relayLookup(outbound, host);
  return {
    host,
    port,
    secure,
    requireTLS: !secure && smtp.enable_start_tls,
    ignoreTLS: !secure && !smtp.enable_start_tls,
    tls: { rejectUnauthorized: smtp.verify_ssl_certs, secureContext: await systemTrust() },
    ...(smtp.domain === "" ? {} : { name: plain(smtp.domain).replaceAll(" ", "") }),
    ...(signsIn(smtp)
      ? {
          auth: { user: smtp.user_name, pass: smtp.password },
          authMethod: methods[smtp.authentication_method] ?? "PLAIN",
          // A server that asks for no password is not the one that was meant.
          forceAuth: true,
        }
      : {}),
    connectionTimeout: timeout,
    greetingTimeout: timeout,
    socketTimeout: timeout,
    maxResponseSize: 64 * 1024,
    disableFileAccess: true,
    disableUrlAccess: true,
    // Ours, so that the address that was checked is the one that is connected to.
    getSocket(_options, done) {
      const socket = connect({ host, port, lookup, autoSelectFamily: true });
      settled(socket, signal).then(
        () => done(null, { connection: socket }),
        (error: Error) => done(error),
      );
    },
  };
}

function settled(socket: Socket, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => socket.destroy(new Error("stopped"));
    const done = () => {
      signal.removeEventListener("abort", end);
      socket.off("error", failed);
    };
    const failed = (error: Error) => {
      done();
      reject(error);
    };
    socket.once("error", failed);
    socket.once("connect", () => {
      done();
      resolve();
    });
    signal.addEventListener("abort", end, { once: true });
    if (signal.aborted) end();
  });
}

interface SmtpError extends Error {
  readonly code?: string;
  readonly originalCode?: string;
  readonly response?: string;
  readonly command?: string;
}

const plainTexts: Readonly<Record<string, string>> = {
  ECONNREFUSED: "refused the connection",
  ECONNRESET: "closed the connection",
  EPIPE: "closed the connection",
  ENOTFOUND: "was not found (DNS)",
  EAI_AGAIN: "could not be looked up (DNS)",
  EHOSTUNREACH: "cannot be reached from here",
  ENETUNREACH: "cannot be reached from here",
  ETIMEDOUT: "did not answer in time",
};

function reasonOf(thrown: unknown, smtp: SmtpSettings, signal: AbortSignal, timeout: number): string {
  const where = `${smtp.server}:${smtp.port}`;
  const error: SmtpError = thrown instanceof Error ? thrown : new Error("unknown");
  if (thrown instanceof BlockedAddress) return error.message;
  const said = error.response === undefined ? "" : `: ${told(error.response, smtp)}`;
  if (error.code === "EAUTH")
    return error.response === undefined
      ? `no sign-in at ${where}: user_name and password must be set`
      : `${where} refused the sign-in${said}`;
  if (error.response !== undefined) return `${where} refused${stepOf(error)}${said}`;
  if (signal.aborted || error.code === "ETIMEDOUT")
    return `${where} did not answer within ${Math.round(timeout / 100) / 10} s`;
  const own = error.originalCode ?? error.code ?? "";
  if (plainTexts[own] !== undefined) return `${where} ${plainTexts[own]}`;
  if (error.code === "EENVELOPE") return "the address of the sender or the recipient cannot be used";
  if (/wrong version number|packet length too long/i.test(error.message))
    return `${where} does not speak TLS from the first byte: turn enable_ssl_tls off, or enable_start_tls on`;
  if (error.code === "ETLS" || own.startsWith("ERR_") || /certificate|self-signed|altname/i.test(error.message))
    return `no secure connection to ${where}: ${told(error.message.replace(/^Error initiating TLS - /, ""), smtp)}`;
  if (error.code === "ECONNECTION") return `${where} closed the connection`;
  return `${where}: ${told(error.message, smtp)}`;
}

function stepOf({ code, command }: SmtpError): string {
  if (code === "ETLS" || command === "STARTTLS") return " STARTTLS, which enable_start_tls requires";
  if (code === "EENVELOPE") return command === "RCPT TO" ? " the recipient" : " the sender";
  return code === "EMESSAGE" ? " the mail" : "";
}

const LONGEST = 200;

/** What the server said, on one line, cut short; servers have been seen to say back what they were told. */
function told(text: string, { user_name: user, password }: SmtpSettings): string {
  const base64 = (value: string) => Buffer.from(value).toString("base64");
  const secrets = password === "" ? [] : [password, base64(password), base64(`\0${user}\0${password}`)];
  const clean = secrets.reduce((left, secret) => left.replaceAll(secret, "***"), plain(text));
  return clean.length > LONGEST ? `${clean.slice(0, LONGEST)}...` : clean;
}
