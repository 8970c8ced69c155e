// Sign-in through the browser. The browser is redirected to a listener on the loopback interface with a code (RFC
// 8252). The code is useless without the verifier that the challenge was derived from (RFC 7636).
import { spawn } from "node:child_process";
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { CliError, denied } from "../errors.ts";

export interface BrowserSignIn {
  readonly serverUrl: string;
  /** Shows a message to the user. */
  readonly note: (text: string) => void;
  /** Opens a URL in the user's browser; null: the user opens it. */
  readonly browse: ((url: string) => Promise<void>) | null;
  readonly signal: AbortSignal;
  /** In milliseconds. */
  readonly timeout: number;
}

export interface Code {
  readonly code: string;
  readonly code_verifier: string;
}

/** The result in the browser's redirect; null: the user cancelled. */
interface Answer {
  readonly code: string | null;
}

/** Waits until the user has signed in; returns the code and verifier to exchange for a token. */
export async function codeFromBrowser({ serverUrl, note, browse, signal, timeout }: BrowserSignIn): Promise<Code> {
  signal.throwIfAborted();
  const verifier = randomBytes(32).toString("base64url");
  const state = randomBytes(24).toString("base64url");
  let deliver: (answer: Answer) => void = () => {};
  const delivered = new Promise<Answer>((resolve) => {
    deliver = resolve;
  });
  const server = createServer((request, reply) => receiveAnswer(request, reply, state, deliver));
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(0, "127.0.0.1", resolve));
  const ended = new AbortController();
  try {
    const { port } = server.address() as AddressInfo;
    const url = new URL(`${serverUrl.replace(/\/+$/, "")}/cli-login`);
    const challenge = createHash("sha256").update(verifier).digest("base64url");
    url.search = String(new URLSearchParams({ port: String(port), challenge, state, sso: "1" }));
    note(`Sign in in your browser:\n  ${url.href}`);
    browse?.(url.href).catch(() => note("No browser could be opened: open this address yourself."));
    const { code } = await Promise.race([delivered, late(timeout, AbortSignal.any([signal, ended.signal]))]);
    if (code === null) throw denied("the sign-in was cancelled in the browser");
    return { code, code_verifier: verifier };
  } finally {
    ended.abort();
    server.close();
    // Browsers open connections in advance that never carry a request.
    server.closeAllConnections();
  }
}

/** Rejects after the timeout, or when the user interrupts. */
function late(timeout: number, signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const timer = setTimeout(
      () =>
        reject(
          new CliError("pending", "the sign-in in the browser was not completed in time", "Run the command again."),
        ),
      timeout,
    );
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}

/**
 * Accepts only requests with our state, which only the browser that started here has; pages and programs cannot guess
 * it.
 */
function receiveAnswer(
  request: IncomingMessage,
  reply: ServerResponse,
  state: string,
  deliver: (answer: Answer) => void,
): void {
  const url = new URL(request.url ?? "/", "http://127.0.0.1");
  const code = url.searchParams.get("code") ?? "";
  const isOurs = request.method === "GET" && url.pathname === "/" && same(url.searchParams.get("state") ?? "", state);
  const isCancelled = url.searchParams.get("error") === "access_denied";
  if (!isOurs || (!isCancelled && !/^[\w-]{16,512}$/.test(code))) {
    answer(reply, 404, "Not found", "This page does not exist.");
    return;
  }
  // Delivering the result stops the listener, so wait until the browser has received the page.
  reply.once("close", () => deliver({ code: isCancelled ? null : code }));
  if (isCancelled) answer(reply, 200, "Cancelled", "The command line was not signed in. You can close this window.");
  else answer(reply, 200, "Signed in", "You are signed in on the command line. You can close this window.");
}

const same = (a: string, b: string): boolean => {
  const [x, y] = [a, b].map((text) => createHash("sha256").update(text).digest());
  return timingSafeEqual(x!, y!);
};

const style =
  ":root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:27rem;margin:12vh auto;padding:0 1rem}h1{font-size:1.6rem;margin:0 0 .5rem}";
const styleHash = createHash("sha256").update(style).digest("base64");

function answer(reply: ServerResponse, status: number, title: string, text: string): void {
  const headers = {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": `default-src 'none'; img-src data:; style-src 'sha256-${styleHash}'; frame-ancestors 'none'`,
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
    connection: "close",
  };
  reply.writeHead(status, headers);
  reply.end(
    `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${title} - svc</title><link rel="icon" href="data:,"><style>${style}</style><main><h1>${title}</h1><p>${text}</p></main>\n`,
  );
}

const openers: Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};

/** Opens the URL in the user's browser, without a shell that could interpret it. */
export function openBrowser(url: string): Promise<void> {
  const [command, ...args] = openers[process.platform] ?? ["xdg-open"];
  return new Promise((resolve, reject) => {
    const child = spawn(command, [...args, url], { stdio: "ignore", detached: true });
    child.once("error", reject);
    child.once("exit", (code) => (code === 0 ? resolve() : reject(new Error(`${command} ended with ${code}`))));
    child.unref();
  });
}
