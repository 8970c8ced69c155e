// Sends all requests to other servers, with limits on the time and on the size of the reply. Those to URLs that users
// have entered go to public addresses only (addresses.ts).

import type { Dispatcher } from "undici";
import { isHttpUrl } from "../../../../text/urls.ts";
import type { Services } from "../context.ts";
import { cannotDryRun } from "../errors.ts";
import { part } from "../running.ts";
import type { Settings } from "../settings/settings.ts";
import { BlockedAddress, checkedLookup, checkHost, plainHost, type Resolve } from "./addresses.ts";

export interface OutboundRequest {
  readonly method?: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Basic authentication. */
  readonly auth?: { readonly username: string; readonly password: string };
  /** Time limit in milliseconds, including redirects. */
  readonly timeout?: number;
  /** Maximum size of the reply in bytes. */
  readonly maxBytes?: number;
  /**
   * Maximum number of redirects to follow; with 0, a 3xx is returned as the reply. POST, PUT, PATCH and DELETE follow
   * only 307 and 308, which keep method and body.
   */
  readonly redirects?: number;
  /** Only the status matters: a reply that is too long or incomplete is truncated instead of causing an error. */
  readonly isBodyOptional?: boolean;
  /**
   * Receives the content of a reply with status 200 while it arrives; the reply's `body` is then empty. What it throws is
   * thrown as it is, errors of the connection as `OutboundError`.
   */
  readonly receive?: (content: AsyncIterable<Uint8Array>) => Promise<void>;
  readonly signal?: AbortSignal;
  /** A POST that changes nothing on the other server, such as one for an access token: dry runs may send it. */
  readonly isRead?: boolean;
}

export interface OutboundReply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Buffer;
}

type OutboundReason = "blocked" | "timeout" | "unreachable" | "too_large" | "bad_redirect" | "tls";

/**
 * Thrown without a usable reply. The message may be shown to admins: it names the host, but contains nothing of the
 * request or reply.
 */
export class OutboundError extends Error {
  readonly reason: OutboundReason;
  /** Whether the request may have reached the server. */
  readonly wasSent: boolean;

  constructor(reason: OutboundReason, message: string, wasSent = false) {
    super(message);
    this.reason = reason;
    this.wasSent = wasSent;
  }
}

const TIMEOUT = 10_000;
const MAX_BYTES = 1024 * 1024;
const REDIRECTS = 3;
const MAX_URL = 8192;

/** Why the text is not a valid URL for a request, or null if it is. Does not access the network. */
export function checkOutboundUrl(text: string): string | null {
  if (text.length > MAX_URL) return `must have at most ${MAX_URL} characters`;
  if (!isHttpUrl(text.replaceAll(/\s/g, ""))) return "must be an http or https URL";
  return /\s/.test(text) ? "must not contain blanks" : null;
}

/** Whether the URL contains a user name or password, which must be avoided because URLs are shown to many users. */
export function hasCredentials(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { username, password } = new URL(url);
  return username !== "" || password !== "";
}

/** The destination is indexed, and Postgres limits the size of index entries. */
const MAX_DESTINATION = 2_000;

/** `checkOutboundUrl` for the destination of requests in the outbox. */
export function checkDestination(text: string): string | null {
  if (Buffer.byteLength(text) > MAX_DESTINATION) return `must have at most ${MAX_DESTINATION} bytes`;
  return checkOutboundUrl(text);
}

export type Fetch = (url: string, request?: OutboundRequest) => Promise<OutboundReply>;

const fetching = part("outbound requests", ({ settings }) => makeFetch(settings));

export function fetchOutbound(
  { running, dryRun }: Pick<Services, "running" | "dryRun">,
  url: string,
  request: OutboundRequest = {},
): Promise<OutboundReply> {
  refuseInDryRun(dryRun, request);
  return running.of(fetching)(url, request);
}

/**
 * Reading is allowed in a dry run because it is part of a check; other methods could change data on the other server.
 */
function refuseInDryRun(dryRun: Services["dryRun"], { method = "GET", isRead = false }: OutboundRequest): void {
  if (dryRun !== null && !isRead && method !== "GET" && method !== "HEAD")
    throw cannotDryRun("it sends something to another server");
}

const vendorFetching = part("requests to vendors", ({ settings }) => makeVendorFetch(settings));

/**
 * Sends a request to a service whose URL only the operator can set, so that it may be at any address. Uses
 * the proxy of the settings, and follows no redirects, except for downloads (`receive`).
 */
export function fetchVendor(
  { running, dryRun }: Pick<Services, "running" | "dryRun">,
  url: string,
  request: OutboundRequest = {},
): Promise<OutboundReply> {
  refuseInDryRun(dryRun, request);
  return running.of(vendorFetching)(url, request.receive === undefined ? { ...request, redirects: 0 } : request);
}

const connecting = { timeout: TIMEOUT, autoSelectFamilyAttemptTimeout: 1_000 };
const connections = { keepAliveTimeout: 10_000, allowH2: false, maxHeaderSize: 32_768 };

/**
 * A fetch function with its own connections. `resolve` looks up names (default: the system's resolver). With `most` =
 * 1, consecutive requests to a host use the same connection, as NTLM requires.
 */
export const makeFetch = (settings: Pick<Settings, "outbound_allow">, resolve?: Resolve, most = 16): Fetch =>
  fetchThrough({
    check: (url) => checkHost(settings, url),
    async open() {
      const { Agent } = await import("undici");
      const connect = { ...connecting, lookup: checkedLookup(settings, resolve) };
      return new Agent({ ...connections, connect, connections: most });
    },
  });

const makeVendorFetch = ({ https_proxy, no_proxy }: Pick<Settings, "https_proxy" | "no_proxy">): Fetch =>
  fetchThrough({
    check: async () => {},
    async open() {
      const { EnvHttpProxyAgent } = await import("undici");
      const proxies = { httpProxy: "", httpsProxy: https_proxy ?? "", noProxy: no_proxy.join(",") };
      return new EnvHttpProxyAgent({ ...proxies, ...connections, connect: connecting, connections: 16 });
    },
  });

interface Way {
  /** Throws `BlockedAddress` if this server must not connect to the host. */
  readonly check: (url: URL) => Promise<void>;
  readonly open: () => Promise<Dispatcher>;
}

function fetchThrough({ check, open }: Way): Fetch {
  let agent: Promise<Dispatcher> | undefined;
  return async (url, request = {}) => {
    const problem = checkOutboundUrl(url);
    if (problem) throw new OutboundError("blocked", `the URL ${problem}`);
    agent ??= open();
    const deadline = AbortSignal.timeout(request.timeout ?? TIMEOUT);
    const signal = request.signal ? AbortSignal.any([deadline, request.signal]) : deadline;
    return follow({ check, agent: await agent, signal, request }, new URL(url), request.redirects ?? REDIRECTS);
  };
}

interface Going {
  readonly check: Way["check"];
  readonly agent: Dispatcher;
  readonly signal: AbortSignal;
  readonly request: OutboundRequest;
}

async function follow(going: Going, first: URL, redirects: number): Promise<OutboundReply> {
  const { request } = going;
  const method = request.method ?? "GET";
  let url = first;
  let headers = headersOf(request, url);
  for (let left = redirects; ; left--) {
    const reply = await once(going, url, method, headers);
    const to = redirectOf(reply, method);
    if (to === null || redirects === 0) return reply;
    if (left === 0) throw new OutboundError("bad_redirect", `${url.hostname} redirects more than ${redirects} times`);
    const next = URL.canParse(to, url.href) ? new URL(to, url) : null;
    if (next === null || checkOutboundUrl(next.href) !== null)
      throw new OutboundError("bad_redirect", `${url.hostname} redirects to a URL that is not http or https`);
    if (next.protocol !== url.protocol)
      throw new OutboundError("bad_redirect", `${url.hostname} redirects from ${url.protocol} to ${next.protocol}`);
    if (next.origin !== url.origin) headers = withoutSecrets(headers);
    // Credentials in a redirect's URL are ignored.
    next.username = "";
    next.password = "";
    url = next;
  }
}

const keepsMethod = new Set([307, 308]);
const mayChangeMethod = new Set([301, 302, 303]);

function redirectOf({ status, headers }: OutboundReply, method: string): string | null {
  const follows = keepsMethod.has(status) || (mayChangeMethod.has(status) && (method === "GET" || method === "HEAD"));
  return follows ? headers.get("location") : null;
}

function headersOf({ headers, auth, body }: OutboundRequest, url: URL): Record<string, string> {
  const names: Record<string, string> = { "user-agent": "svc", accept: "*/*" };
  for (const [name, value] of Object.entries(headers ?? {})) names[name.toLowerCase()] = value;
  const inUrl = url.username !== "" && { username: decode(url.username), password: decode(url.password) };
  const basic = auth ?? (inUrl || null);
  if (basic && names.authorization === undefined)
    names.authorization = `Basic ${Buffer.from(`${basic.username}:${basic.password}`).toString("base64")}`;
  // Computed from the body instead of taken from the caller.
  delete names["content-length"];
  delete names.host;
  if (body === undefined) delete names["content-type"];
  return names;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Headers that may be forwarded to another host, because they cannot contain credentials. */
const harmless = new Set(["accept", "accept-language", "content-type", "if-none-match", "user-agent", "soapaction"]);
const withoutSecrets = (headers: Record<string, string>) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => harmless.has(name) || name.startsWith("webhook-")));

async function once(
  { check, agent, signal, request }: Going,
  url: URL,
  method: Dispatcher.HttpMethod,
  headers: Record<string, string>,
): Promise<OutboundReply> {
  const { body, maxBytes = MAX_BYTES, isBodyOptional = false, receive } = request;
  let isHanded = false;
  const plain = (error: unknown) => plainError(error, url, signal, isHanded);
  const tooLarge = () =>
    new OutboundError("too_large", `the reply of ${url.hostname} is larger than ${maxBytes} bytes`, true);
  let content: AsyncIterable<Uint8Array>;
  let replied: Omit<OutboundReply, "body">;
  try {
    await check(url);
    signal.throwIfAborted();
    const sent = agent.request({
      origin: url.origin,
      path: `${url.pathname}${url.search}`,
      method,
      headers,
      body: body ?? null,
      signal,
    });
    isHanded = true;
    const reply = await sent;
    const fields = new Headers();
    for (const [name, value] of Object.entries(reply.headers))
      for (const part of [value ?? []].flat()) fields.append(name, part);
    replied = { status: reply.statusCode, headers: fields };
    if (receive === undefined || reply.statusCode !== 200) {
      const read = await bounded(reply.body, maxBytes, isBodyOptional);
      if (read === null) throw tooLarge();
      return { ...replied, body: read };
    }
    content = limited(reply.body, maxBytes, (error) => (error === null ? tooLarge() : plain(error)));
  } catch (error) {
    throw plain(error);
  }
  await receive(content);
  return { ...replied, body: Buffer.alloc(0) };
}

/** The content as it arrives. `failure` makes the error that the reader gets; null: the content is too long. */
async function* limited(
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
  failure: (error: unknown) => OutboundError,
): AsyncGenerator<Uint8Array> {
  const parts = body[Symbol.asyncIterator]();
  let length = 0;
  try {
    for (;;) {
      const { done, value } = await parts.next().catch((error: unknown) => {
        throw failure(error);
      });
      if (done) return;
      length += value.length;
      if (length > maxBytes) throw failure(null);
      yield value;
    }
  } finally {
    // Closes the connection if the reader stops early.
    await parts.return?.();
  }
}

/** The whole reply, or null if it is too long. */
async function bounded(
  body: Dispatcher.ResponseData["body"],
  maxBytes: number,
  isOptional: boolean,
): Promise<Buffer | null> {
  const parts: Buffer[] = [];
  let length = 0;
  try {
    for await (const part of body as AsyncIterable<Buffer>) {
      length += part.length;
      if (length > maxBytes && !isOptional) return null;
      parts.push(part);
      // Leaving the loop closes the connection without reading the rest.
      if (length > maxBytes) return Buffer.concat(parts).subarray(0, maxBytes);
    }
  } catch (error) {
    if (!isOptional) throw error;
  }
  return Buffer.concat(parts);
}

const codeOf = (error: unknown): string => {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    if ("code" in at && typeof at.code === "string") return at.code;
    if (at instanceof AggregateError && at.errors.length > 0) return codeOf(at.errors[0]);
  }
  return "";
};

const tlsTexts: Record<string, string> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: "its certificate is self-signed",
  SELF_SIGNED_CERT_IN_CHAIN: "its certificate chain ends with a certificate that is not trusted here",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "its certificate chain is incomplete or not trusted here",
  UNABLE_TO_GET_ISSUER_CERT: "the issuer of its certificate is unknown here",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "the issuer of its certificate is unknown here",
  CERT_HAS_EXPIRED: "its certificate has expired",
  CERT_NOT_YET_VALID: "its certificate is not valid yet",
  CERT_REVOKED: "its certificate was revoked",
  ERR_TLS_CERT_ALTNAME_INVALID: "its certificate is for another name",
};
const isTls = (code: string) =>
  code in tlsTexts || code === "EPROTO" || /^(?:ERR_SSL|ERR_TLS|CERT_|UNABLE_TO_)/.test(code);

const plainTexts: Record<string, string> = {
  ECONNREFUSED: "refused the connection",
  ECONNRESET: "closed the connection",
  EPIPE: "closed the connection",
  UND_ERR_SOCKET: "closed the connection",
  ENOTFOUND: "was not found (DNS)",
  EAI_AGAIN: "could not be looked up (DNS)",
  EHOSTUNREACH: "cannot be reached from here",
  ENETUNREACH: "cannot be reached from here",
  EADDRNOTAVAIL: "cannot be reached from here",
};
const timeouts = new Set(["UND_ERR_CONNECT_TIMEOUT", "UND_ERR_HEADERS_TIMEOUT", "UND_ERR_BODY_TIMEOUT", "ETIMEDOUT"]);
/** Errors that occur before the request was sent. */
const unsent = new Set([
  ...["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "EADDRNOTAVAIL"],
  ...["UND_ERR_CONNECT_TIMEOUT", "UND_ERR_INVALID_ARG"],
]);

function plainError(error: unknown, { hostname }: URL, signal: AbortSignal, wasSent: boolean): OutboundError {
  if (error instanceof OutboundError) return error;
  for (let at = error; at instanceof Error; at = at.cause)
    if (at instanceof BlockedAddress) return new OutboundError("blocked", at.message);
  const host = plainHost(hostname);
  if (signal.aborted) return new OutboundError("timeout", `${host} did not respond in time`, wasSent);
  const code = codeOf(error);
  const sent = wasSent && !unsent.has(code) && !isTls(code);
  if (timeouts.has(code)) return new OutboundError("timeout", `${host} did not respond in time`, sent);
  if (isTls(code)) return new OutboundError("tls", `no secure connection to ${host}: ${tlsTexts[code] ?? code}`);
  if (code === "UND_ERR_INVALID_ARG" || code.startsWith("ERR_INVALID"))
    return new OutboundError("unreachable", `a header or the URL of the request to ${host} is not allowed`);
  if (code === "UND_ERR_HEADERS_OVERFLOW")
    return new OutboundError("too_large", `the reply of ${host} has too many headers`, sent);
  if (code.startsWith("HPE_")) return new OutboundError("unreachable", `${host} does not reply in HTTP`, sent);
  return new OutboundError("unreachable", `${host} ${plainTexts[code] ?? "could not be reached"}`, sent);
}
