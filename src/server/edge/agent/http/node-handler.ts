// Agent endpoints on plain node:http, bypassing h3. Most requests are polls of idle hosts, which cost little more than
// node:http itself.
import type { IncomingMessage, ServerResponse } from "node:http";
import {
  type AgentReply,
  bodyCaps,
  busy,
  type EndpointName,
  endpointAt,
  forEndpoint,
  nameIn,
} from "../../../platform/agent-protocol/wire.ts";
import type { Services } from "../../../platform/core/context.ts";
import { bodyRoom } from "../../../platform/core/http/body-room.ts";
import { callerOfRequest } from "../../../platform/core/http/proxies.ts";
import { closeWhenUnread } from "../../../platform/core/http/unread-bodies.ts";
import type { Agent } from "../agent.ts";
import { answer, misdirected, oversize } from "./answer.ts";
import { LargeBody } from "./large-body.ts";
import { createRequestCounts, type RequestCounts } from "./request-counts.ts";

/** A first chunk up to this size needs no limit check: all limits are larger. */
const SMALL_BYTES = 8 * 1024;

type NodeHandler = (req: IncomingMessage, res: ServerResponse) => boolean;

/** Handles a request below the agent path prefixes; returns false for other paths. */
export function agentHandler(agent: Agent, services: Services): NodeHandler {
  const handler = new AgentHandler(agent, services);
  return (req, res) => handler.serve(req, res);
}

class AgentHandler {
  readonly #agent: Agent;
  readonly #services: Services;
  readonly #counts: RequestCounts;

  constructor(agent: Agent, services: Services) {
    this.#agent = agent;
    this.#services = services;
    this.#counts = createRequestCounts(services);
  }

  serve(req: IncomingMessage, res: ServerResponse): boolean {
    const at = endpointAt(req.url ?? "");
    if (at === null) return false;
    const refused = misdirected(at, req.method ?? "", req.headers["dry-run"]);
    if (refused !== null || at === "unknown") {
      closeWhenUnread(req, res);
      if (refused) send(req, res, refused);
      return true;
    }
    this.#receive(req, res, at);
    return true;
  }

  #receive(req: IncomingMessage, res: ServerResponse, endpoint: EndpointName): void {
    // Most bodies arrive in one chunk.
    let whole: Buffer | null = null;
    let large: LargeBody | null = null;
    let isRefused = false;
    req.on("data", (chunk: Buffer) => {
      if (isRefused) return;
      if (large === null && whole === null && chunk.length <= SMALL_BYTES) {
        whole = chunk;
        return;
      }
      if (large === null) {
        large = this.#largeBody(req, endpoint, whole ?? chunk);
        if (whole !== null) large.push(whole);
        whole = null;
      }
      large.push(chunk);
      if (!large.isRefused()) return;
      isRefused = true;
      closeWhenUnread(req, res);
      this.#replyToLarge(req, res, endpoint, large);
    });
    req.on("end", () => {
      if (isRefused) return;
      if (large === null) void this.#reply(req, res, endpoint, whole ?? nothing);
      else this.#replyToLarge(req, res, endpoint, large);
    });
  }

  /** Looks the sender up concurrently if its key is not cached. */
  #largeBody(req: IncomingMessage, endpoint: EndpointName, first: Buffer): LargeBody {
    const { authorization, "content-encoding": encoding } = req.headers;
    const caller = callerOfRequest(this.#services, req);
    const { sender, proved } = this.#agent.senderOf({ first, encoding, authorization, ...caller });
    // If these were refused, the agent would send them again with every poll.
    const isAcknowledged = endpoint === "distributed/write";
    return new LargeBody(req, this.#services.running.of(bodyRoom), {
      sender,
      proved,
      cap: bodyCaps[endpoint],
      isAcknowledged,
    });
  }

  #replyToLarge(req: IncomingMessage, res: ServerResponse, endpoint: EndpointName, large: LargeBody): void {
    if (large.dropped !== null) {
      const reply = large.dropped === "oversize" ? oversize(this.#services, endpoint) : busy;
      send(req, res, forEndpoint(endpoint, reply));
      this.#counts.end(endpoint, reply.status, 0);
      return;
    }
    const replied = this.#reply(req, res, endpoint, large.takeBytes());
    if (replied) void replied.then(() => large.release());
    else large.release();
  }

  #reply(req: IncomingMessage, res: ServerResponse, endpoint: EndpointName, bytes: Buffer): void | Promise<void> {
    const started = this.#counts.start();
    const finish = (reply: AgentReply) => {
      send(req, res, forEndpoint(endpoint, reply));
      this.#counts.end(endpoint, reply.status, started);
    };
    const reply = answer(this.#agent, this.#services, endpoint, {
      bytes,
      encoding: req.headers["content-encoding"],
      authorization: req.headers.authorization,
      name: endpoint === "yara" ? nameIn(req.url ?? "") : undefined,
      ...callerOfRequest(this.#services, req),
    });
    return reply instanceof Promise ? reply.then(finish) : finish(reply);
  }
}

function send(req: IncomingMessage, res: ServerResponse, { status, body, retryAfter, plain }: AgentReply): void {
  if (res.destroyed || res.headersSent) return;
  const length = Buffer.byteLength(body);
  const type = plain ? "text/plain; charset=utf-8" : "application/json";
  const headers = ["Content-Type", type, "Content-Length", String(length)];
  if (retryAfter !== undefined) headers.push("Retry-After", String(retryAfter));
  res.writeHead(status, headers);
  // ASCII text is written faster as latin1.
  if (req.method === "HEAD") res.end();
  else res.end(body, length === body.length ? "latin1" : "utf8");
}

const nothing = Buffer.alloc(0);
