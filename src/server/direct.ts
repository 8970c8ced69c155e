// Messages of devices and managed agents on plain node:http, bypassing the router: most are polls for which nothing
// waits. Every endpoint that is served here is served by the router too, which gets whatever is not usual.
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { type AnyEndpoint, isDownload } from "../api/endpoint.ts";
import { servedPaths } from "../api/paths.ts";
import { baseHeaders, refusal } from "./error-replies.ts";
import type { Services } from "./platform/core/context.ts";
import { receivedBody } from "./platform/core/http/bodies/read.ts";
import type { Protocol } from "./platform/core/http/protocol.ts";
import { responseOf, type WholeReply, wholeReply } from "./platform/core/http/replies.ts";
import { count } from "./platform/core/http/request-counts.ts";
import type { RawInput, Reply, Route } from "./platform/core/http/route.ts";
import { contextOf, type RequestParts } from "./request-context.ts";

/** Bodies up to this size need no room of their own (`core/http/body-room.ts`). */
const SMALL = 8 * 1024;

interface ServedRoute {
  readonly route: Route;
  readonly protocol: Omit<Protocol, "routes">;
}

/** Handles a usual request for these protocols; returns false for others, of which nothing has been read then. */
export function directHandler(
  services: Services,
  protocols: readonly Protocol[],
): (req: IncomingMessage, res: ServerResponse) => boolean {
  const served = new Map<string, ServedRoute>();
  for (const { routes, pathsOf = servedPaths, ...protocol } of protocols)
    for (const route of routes.filter(({ endpoint }) => isMessage(endpoint)))
      for (const path of pathsOf(route.endpoint))
        if (!path.includes(":")) served.set(`${route.endpoint.method} ${path}`, { route, protocol });

  return (req, res) => {
    const candidate = served.get(`${req.method} ${splitUrl(req.url!)[0]}`);
    if (!candidate || !isUsual(req.headers, candidate.route.endpoint)) return false;
    const chunks: Buffer[] = [];
    req.on("data", (chunk: Buffer) => chunks.push(chunk));
    req.on("end", () => {
      const bytes = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
      answer(services, candidate, req, bytes)
        .then((reply) => send(res, reply))
        .catch((err: unknown) => {
          services.log.error({ err }, "a reply could not be sent");
          res.destroy();
        });
    });
    return true;
  };
}

/** Bytes or JSON without a token. */
const isMessage = (endpoint: AnyEndpoint): boolean => {
  const { takes, access, hasBody } = endpoint;
  return access === "none" && (takes.kind === "raw" || (takes.kind === "json" && hasBody && !isDownload(endpoint)));
};

/** The path, and the query with its question mark. */
function splitUrl(url: string): [path: string, search: string] {
  const at = url.indexOf("?");
  return at === -1 ? [url, ""] : [url.slice(0, at), url.slice(at)];
}

function queryOf(search: string): Record<string, string[]> {
  if (search === "") return {};
  const parameters = new URLSearchParams(search);
  return Object.fromEntries([...new Set(parameters.keys())].map((key) => [key, parameters.getAll(key)]));
}

function isUsual(headers: IncomingHttpHeaders, { bodyLimit }: AnyEndpoint): boolean {
  const length = headers["content-length"];
  if (length === undefined || Number(length) > Math.min(SMALL, bodyLimit)) return false;
  return headers["content-encoding"] === undefined && headers["dry-run"] === undefined;
}

async function answer(
  services: Services,
  { route: { endpoint, run }, protocol }: ServedRoute,
  req: IncomingMessage,
  bytes: Buffer,
): Promise<WholeReply | Response> {
  const started = performance.now();
  const request = new ReceivedRequest(services, req);
  const ended = <R extends WholeReply | Response>(sent: R): R => {
    count(services, endpoint, sent.status, started);
    return sent;
  };
  try {
    const ctx = await contextOf(services, request, endpoint.access);
    const reply: Reply = { status: endpoint.status, headers: {} };
    const body: RawInput["body"] = async (_, admission) => {
      await admission?.check(bytes, false);
      const decode = () => receivedBody(endpoint, request.headers, bytes);
      return admission ? admission.measure(decode) : decode();
    };
    const value = await run({ params: {}, query: queryOf(request.search), body }, ctx, reply);
    const headers = { ...baseHeaders(request.id, services), ...protocol.headers };
    const whole = wholeReply(endpoint, value, reply, headers);
    return ended(whole ?? (await responseOf(endpoint, value, reply, headers, request)));
  } catch (error) {
    return ended(refusal(services, request, error, protocol));
  }
}

/** A request as it arrived, without a function of its own for each member. */
class ReceivedRequest implements RequestParts {
  readonly id: string;
  readonly path: string;
  readonly search: string;
  readonly headers: SentHeaders;
  readonly #req: IncomingMessage;

  constructor({ random }: Pick<Services, "random">, req: IncomingMessage) {
    this.id = random.uuid();
    [this.path, this.search] = splitUrl(req.url!);
    this.headers = new SentHeaders(req.headers);
    this.#req = req;
  }

  get method(): string {
    return this.#req.method!;
  }

  get peer(): string {
    return this.#req.socket.remoteAddress ?? "";
  }

  get socket(): Socket {
    return this.#req.socket;
  }

  url(): URL {
    return new URL(this.path + this.search, `http://${this.headers.get("host") ?? "localhost"}`);
  }
}

class SentHeaders {
  readonly #all: IncomingHttpHeaders;

  constructor(all: IncomingHttpHeaders) {
    this.#all = all;
  }

  get(name: string): string | null {
    const value = this.#all[name.toLowerCase()];
    return Array.isArray(value) ? value.join(",") : (value ?? null);
  }

  has(name: string): boolean {
    return name.toLowerCase() in this.#all;
  }
}

function send(res: ServerResponse, reply: WholeReply | Response): void | Promise<void> {
  if (res.destroyed) return;
  if (reply instanceof Response) return sendResponse(res, reply);
  const { status, headers, body } = reply;
  if (!Array.isArray(body)) {
    res.writeHead(status, headers);
    // Node writes ASCII faster as latin1.
    if (typeof body === "string" && headers["content-length"] === String(body.length)) res.end(body, "latin1");
    else res.end(body);
    return;
  }
  // The parts are shared with other replies: Node passes them on without joining them.
  res.writeHead(status, { ...headers, "content-length": body.reduce((sum, part) => sum + part.length, 0) });
  for (const part of body) res.write(part);
  res.end();
}

async function sendResponse(res: ServerResponse, reply: Response): Promise<void> {
  const body = Buffer.from(await reply.arrayBuffer());
  res.writeHead(reply.status, { ...Object.fromEntries(reply.headers), "content-length": body.length });
  res.end(body);
}
