// The agents' way in on plain node:http, in front of the API's framework: most requests of a server are polls of idle
// hosts, and each costs little more than node:http itself.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Services } from "../core/context.ts";
import { peerAddress } from "../core/proxies.ts";
import { answer, misdirected, oversize } from "./answer.ts";
import type { Load } from "./load.ts";
import { createRequestCounts } from "./request-counts.ts";
import type { Agent } from "./start.ts";
import { type AgentReply, bodyCaps, busy, type EndpointName, endpointAt, forEndpoint } from "./wire.ts";

/** The size of a first piece that is taken as it is: no cap is below it. */
const SMALL = 8 * 1024;
/** Bytes that are read and dropped of a body over its cap; one that goes on is cut off. */
const DRAIN_MAX = 512 * 1024 * 1024;

/** Takes a request below the agent prefixes and answers it; false: not for agents. */
export function agentHandler(agent: Agent, services: Services): (req: IncomingMessage, res: ServerResponse) => boolean {
  const counts = createRequestCounts(services);

  function reply(req: IncomingMessage, res: ServerResponse, { status, body, retryAfter, plain }: AgentReply): void {
    if (res.destroyed || res.headersSent) return;
    const length = Buffer.byteLength(body);
    const type = plain ? "text/plain; charset=utf-8" : "application/json";
    const headers = ["Content-Type", type, "Content-Length", String(length)];
    if (retryAfter !== undefined) headers.push("Retry-After", String(retryAfter));
    res.writeHead(status, headers);
    // As many bytes as characters: ASCII, for which this is the shorter way out.
    if (req.method === "HEAD") res.end();
    else res.end(body, length === body.length ? "latin1" : "utf8");
  }

  function finish(
    req: IncomingMessage,
    res: ServerResponse,
    endpoint: EndpointName,
    bytes: Buffer,
  ): void | Promise<void> {
    const started = counts.start();
    const done = (sent: AgentReply) => {
      reply(req, res, forEndpoint(endpoint, sent));
      counts.end(endpoint, sent.status, started);
    };
    const replied = answer(agent, services, endpoint, {
      bytes,
      encoding: req.headers["content-encoding"],
      authorization: req.headers.authorization,
      address: addressOf(services, req),
    });
    return replied instanceof Promise ? replied.then(done) : done(replied);
  }

  function received(req: IncomingMessage, res: ServerResponse, endpoint: EndpointName, large: LargeBody): void {
    if (large.dropped !== null) {
      const sent = large.dropped === "oversize" ? oversize(services, endpoint) : busy;
      reply(req, res, forEndpoint(endpoint, sent));
      counts.end(endpoint, sent.status, 0);
      return;
    }
    const finished = finish(req, res, endpoint, large.take());
    if (finished) void finished.then(() => large.release());
    else large.release();
  }

  return (req, res) => {
    const at = endpointAt(req.url ?? "");
    if (at === null) return false;
    const refused = misdirected(at, req.method ?? "");
    if (refused !== null || at === "unknown") {
      req.resume();
      if (refused) reply(req, res, refused);
      return true;
    }
    // Nearly every body comes in one piece.
    let whole: Buffer | null = null;
    let large: LargeBody | null = null;
    req.on("data", (chunk: Buffer) => {
      if (large === null && whole === null && chunk.length <= SMALL) {
        whole = chunk;
        return;
      }
      if (large === null) {
        large = new LargeBody(req, agent.load, bodyCaps[at]);
        if (whole !== null) large.push(whole);
        whole = null;
      }
      large.push(chunk);
    });
    req.on("end", () => {
      if (large === null) void finish(req, res, at, whole ?? nothing);
      else received(req, res, at, large);
    });
    return true;
  };
}

const nothing = Buffer.alloc(0);

/** A body that comes in pieces. What is over the cap, or has no room, is read and dropped: the agent reads no answer before. */
class LargeBody {
  dropped: "oversize" | "no room" | null = null;
  readonly #req: IncomingMessage;
  readonly #load: Load;
  readonly #cap: number;
  #chunks: Buffer[] = [];
  #size = 0;
  #reserved = 0;

  constructor(req: IncomingMessage, load: Load, cap: number) {
    this.#req = req;
    this.#load = load;
    this.#cap = cap;
    // Cut off before its end, nobody else gives the room back.
    req.once("close", () => {
      if (!req.readableEnded) this.#drop("no room");
    });
  }

  push(chunk: Buffer): void {
    this.#size += chunk.length;
    if (this.dropped !== null) {
      if (this.#size > this.#cap + DRAIN_MAX) this.#req.destroy();
      return;
    }
    if (this.#size > this.#cap) this.#drop("oversize");
    else if (!this.#load.reserve(chunk.length)) this.#drop("no room");
    else {
      this.#reserved += chunk.length;
      this.#chunks.push(chunk);
    }
  }

  take(): Buffer {
    const bytes = Buffer.concat(this.#chunks, this.#size);
    this.#chunks = [];
    return bytes;
  }

  release(): void {
    this.#load.release(this.#reserved);
    this.#reserved = 0;
  }

  #drop(why: "oversize" | "no room"): void {
    this.dropped = why;
    this.#chunks = [];
    this.release();
  }
}

function addressOf({ settings }: Services, req: IncomingMessage): string {
  const peer = req.socket.remoteAddress ?? "";
  if (settings.trusted_proxies.length === 0) return peer.startsWith("::ffff:") ? peer.slice(7) : peer;
  return peerAddress(settings, peer, {
    get: (name) => {
      const value = req.headers[name];
      return Array.isArray(value) ? value.join(",") : (value ?? null);
    },
  });
}
