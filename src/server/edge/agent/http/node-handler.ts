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
import type { Agent } from "../start.ts";
import { answer, misdirected, oversize } from "./answer.ts";
import { LargeBody } from "./large-body.ts";
import { createRequestCounts } from "./request-counts.ts";

/** A first chunk up to this size needs no limit check: all limits are larger. */
const SMALL = 8 * 1024;

/** Handles a request below the agent path prefixes; returns false for other paths. */
export function agentHandler(agent: Agent, services: Services): (req: IncomingMessage, res: ServerResponse) => boolean {
  const counts = createRequestCounts(services);

  function reply(req: IncomingMessage, res: ServerResponse, { status, body, retryAfter, plain }: AgentReply): void {
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
      name: endpoint === "yara" ? nameIn(req.url ?? "") : undefined,
      ...callerOfRequest(services, req),
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

  /** Looks the sender up concurrently if its key is not cached. */
  function largeBody(req: IncomingMessage, endpoint: EndpointName, first: Buffer): LargeBody {
    const { authorization, "content-encoding": encoding } = req.headers;
    const { sender, proved } = agent.senderOf({ first, encoding, authorization, ...callerOfRequest(services, req) });
    // If these were refused, the agent would send them again with every poll.
    const isAcknowledged = endpoint === "distributed/write";
    return new LargeBody(req, services.running.of(bodyRoom), {
      sender,
      proved,
      cap: bodyCaps[endpoint],
      isAcknowledged,
    });
  }

  return (req, res) => {
    const at = endpointAt(req.url ?? "");
    if (at === null) return false;
    const refused = misdirected(at, req.method ?? "", req.headers["dry-run"]);
    if (refused !== null || at === "unknown") {
      closeWhenUnread(req, res);
      if (refused) reply(req, res, refused);
      return true;
    }
    // Most bodies arrive in one chunk.
    let whole: Buffer | null = null;
    let large: LargeBody | null = null;
    let isRefused = false;
    req.on("data", (chunk: Buffer) => {
      if (isRefused) return;
      if (large === null && whole === null && chunk.length <= SMALL) {
        whole = chunk;
        return;
      }
      if (large === null) {
        large = largeBody(req, at, whole ?? chunk);
        if (whole !== null) large.push(whole);
        whole = null;
      }
      large.push(chunk);
      if (!large.isRefused()) return;
      isRefused = true;
      closeWhenUnread(req, res);
      received(req, res, at, large);
    });
    req.on("end", () => {
      if (isRefused) return;
      if (large === null) void finish(req, res, at, whole ?? nothing);
      else received(req, res, at, large);
    });
    return true;
  };
}

const nothing = Buffer.alloc(0);
