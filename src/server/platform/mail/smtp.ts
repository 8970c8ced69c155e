// Delivers one mail to the configured server: connects, authenticates, sends, and ends within a time limit.
import { connect, type Socket } from "node:net";
import type { SMTPTransportOptions } from "nodemailer/lib/smtp-transport";
import type { SmtpSettings } from "../../../api/settings/app-config.ts";
import { BlockedAddress, checkedLookup, checkHost, plainHost } from "../core/outbound/addresses.ts";
import type { Settings } from "../core/settings/settings.ts";
import { systemTrust } from "./trust.ts";

export interface Letter {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html?: string | undefined;
  /** Id of the mail: another attempt to send it has the same one, so that receivers recognize it. */
  readonly messageId?: string;
  /** Where the recipient can unsubscribe with a POST (RFC 8058). */
  readonly unsubscribeUrl?: string;
}

interface Posting {
  /** Display name of the sender. */
  readonly from: string;
  readonly date: Date;
  readonly timeout: number;
  readonly outbound: Pick<Settings, "outbound_allow">;
  readonly signal?: AbortSignal;
}

/** The mail was not accepted. The message is meant for an admin and does not contain the password. */
export class NotSent extends Error {}

/** Without user name and password mail is sent unauthenticated, whatever the configured type. */
const signsIn = ({ authentication_type: type, user_name: user, password }: SmtpSettings): boolean =>
  type !== "none" && type !== "authtype_none" && (user !== "" || password !== "");

const methods: Readonly<Record<string, string>> = {
  authmethod_plain: "PLAIN",
  authmethod_cram_md5: "CRAM-MD5",
  authmethod_login: "LOGIN",
};

/** The port for implicit TLS (RFC 8314, 3.3). */
const SMTPS = 465;

/**
 * Whether to use implicit TLS. With both settings enabled (the default) the connection is always encrypted: implicit
 * TLS on port 465, STARTTLS on other ports.
 */
const usesImplicitTls = (smtp: Pick<SmtpSettings, "enable_ssl_tls" | "enable_start_tls" | "port">): boolean =>
  smtp.enable_ssl_tls && (!smtp.enable_start_tls || smtp.port === SMTPS);

/** Preloads the modules for sending, which would noticeably delay the first mail. */
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
      // Suppresses automatic replies (RFC 3834).
      headers: { "Auto-Submitted": "auto-generated", ...unsubscribeHeaders(letter) },
      ...(letter.messageId === undefined ? {} : { messageId: letter.messageId }),
      signal,
    });
  } catch (error) {
    if (posting.signal?.aborted) throw new NotSent("the server stopped before the mail was sent");
    throw new NotSent(deliveryProblem(error, smtp, signal, posting.timeout));
  }
}

const unsubscribeHeaders = ({ unsubscribeUrl: url }: Letter): Record<string, string> =>
  url === undefined ? {} : { "List-Unsubscribe": `<${url}>`, "List-Unsubscribe-Post": "List-Unsubscribe=One-Click" };

/** User-entered names used in headers, reduced to one line. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what ends a header
const plain = (text: string): string => text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, " ").trim();

async function optionsOf(
  smtp: SmtpSettings,
  { timeout, outbound }: Posting,
  signal: AbortSignal,
): Promise<SMTPTransportOptions> {
  const { port } = smtp;
  const host = plainHost(smtp.server);
  const secure = usesImplicitTls(smtp);
  // Host names are checked when the connection resolves them; IP addresses are not resolved, so check them here.
  await checkHost(outbound, { hostname: host });
  const lookup = checkedLookup(outbound);
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
          // Refuse to send without authentication if the server does not offer it: it may be a different server.
          forceAuth: true,
        }
      : {}),
    connectionTimeout: timeout,
    greetingTimeout: timeout,
    socketTimeout: timeout,
    maxResponseSize: 64 * 1024,
    disableFileAccess: true,
    disableUrlAccess: true,
    // Connect here, so that the connection uses the address that was checked.
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

function deliveryProblem(thrown: unknown, smtp: SmtpSettings, signal: AbortSignal, timeout: number): string {
  const where = `${smtp.server}:${smtp.port}`;
  const error: SmtpError = thrown instanceof Error ? thrown : new Error("unknown");
  if (thrown instanceof BlockedAddress) return error.message;
  const reply = error.response === undefined ? "" : `: ${redacted(error.response, smtp)}`;
  if (error.code === "EAUTH")
    return error.response === undefined
      ? `no sign-in at ${where}: user_name and password must be set`
      : `${where} refused the sign-in${reply}`;
  if (error.response !== undefined) return `${where} refused${stepOf(error)}${reply}`;
  if (signal.aborted || error.code === "ETIMEDOUT")
    return `${where} did not answer within ${Math.round(timeout / 100) / 10} s`;
  const code = error.originalCode ?? error.code ?? "";
  if (plainTexts[code] !== undefined) return `${where} ${plainTexts[code]}`;
  if (error.code === "EENVELOPE") return "the address of the sender or the recipient cannot be used";
  if (/wrong version number|packet length too long/i.test(error.message))
    return `${where} does not support implicit TLS: disable enable_ssl_tls, or enable enable_start_tls`;
  if (error.code === "ETLS" || code.startsWith("ERR_") || /certificate|self-signed|altname/i.test(error.message))
    return `no secure connection to ${where}: ${redacted(error.message.replace(/^Error initiating TLS - /, ""), smtp)}`;
  if (error.code === "ECONNECTION") return `${where} closed the connection`;
  return `${where}: ${redacted(error.message, smtp)}`;
}

function stepOf({ code, command }: SmtpError): string {
  if (code === "ETLS" || command === "STARTTLS") return " STARTTLS, which enable_start_tls requires";
  if (code === "EENVELOPE") return command === "RCPT TO" ? " the recipient" : " the sender";
  return code === "EMESSAGE" ? " the mail" : "";
}

const MAX_REPLY_CHARACTERS = 200;

/** The server's reply on one line, truncated. Secrets are removed, since some servers echo what they receive. */
function redacted(text: string, { user_name: user, password }: SmtpSettings): string {
  const base64 = (value: string) => Buffer.from(value).toString("base64");
  const secrets = password === "" ? [] : [password, base64(password), base64(`\0${user}\0${password}`)];
  const clean = secrets.reduce((left, secret) => left.replaceAll(secret, "***"), plain(text));
  return clean.length > MAX_REPLY_CHARACTERS ? `${clean.slice(0, MAX_REPLY_CHARACTERS)}...` : clean;
}
