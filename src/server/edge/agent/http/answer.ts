// Handling of a request whose body has arrived, shared by both entry points (plain Node and h3).

import { OF_AGENTS } from "../../../../api/endpoint.ts";
import { hasRightSecret } from "../../../hosts/enrollment/secret-check.ts";
import {
  type AgentReply,
  bodyCaps,
  busy,
  type EndpointName,
  failure,
  internal,
  OK,
  tooLarge,
} from "../../../platform/agent-protocol/wire.ts";
import type { Services } from "../../../platform/core/context.ts";
import { bodyRoom, type Sender } from "../../../platform/core/http/body-room.ts";
import type { Caller } from "../../../platform/core/http/proxies.ts";
import { type StrangerCost, strangerCost } from "../../../platform/core/http/strangers.ts";
import { limit } from "../../../platform/core/limits.ts";
import type { Agent } from "../agent.ts";
import { BadGzip, inflate, Oversize } from "./inflate.ts";

interface RawRequest extends Caller {
  readonly bytes: Buffer;
  readonly encoding: string | undefined;
  readonly authorization: string | undefined;
  readonly name: string | undefined;
}

const MiB = 1024 * 1024;
/** Parsing a body up to this size costs no more than refusing it. */
const SMALL_BYTES = 1024;

export const strangerBodies = {
  plain: limit({
    what: "body of a query agent without the node key of a host",
    max: 64 * 1024,
    unit: "bytes",
    per: "message",
    beyond: "The message is refused with 413 and not parsed.",
  }),
  inflated: limit({
    what: "compressed body of a query agent that does not begin with the node key of a host",
    max: MiB,
    unit: "bytes",
    per: "message",
    beyond: "The message is refused with 413 as soon as that much is decompressed.",
  }),
};
/** Milliseconds that decompressing costs for each MiB of its result. */
const INFLATING_MS_PER_MIB = 5;

export function answer(
  agent: Agent,
  services: Services,
  endpoint: EndpointName,
  request: RawRequest,
): AgentReply | Promise<AgentReply> {
  const { bytes, encoding, ...rest } = request;
  const isPlain = encoding === undefined || encoding === "" || encoding === "identity";
  if (isPlain && bytes.length <= SMALL_BYTES && endpoint !== "enroll")
    return agent.replyTo(endpoint, { ...rest, body: bytes });
  const { sender, proved } = agent.senderOf({ first: bytes, encoding, ...rest });
  if (sender.trust === "proved") return serve(agent, services, endpoint, request, bodyCaps[endpoint]);
  const isFamiliar = sender.trust === "familiar";
  return answerStranger({ agent, services, endpoint, request, proved, isPlain, isFamiliar });
}

interface FromStranger {
  readonly agent: Agent;
  readonly services: Services;
  readonly endpoint: EndpointName;
  readonly request: RawRequest;
  /** Resolves once the key that the body names has been looked up. */
  readonly proved: Promise<Sender | null> | undefined;
  readonly isPlain: boolean;
  /** Hosts with valid keys have called from the same address. */
  readonly isFamiliar: boolean;
}

/** The body names no host, or one that is not in memory. */
async function answerStranger({ agent, services, endpoint, request, proved, isPlain, isFamiliar }: FromStranger) {
  if (proved !== undefined && (await proved) !== null)
    return serve(agent, services, endpoint, request, bodyCaps[endpoint]);
  const cost = strangerCost(services, request);
  cost.isFor(endpoint === "enroll" ? "enrollment" : "other");
  const wait = cost.wait();
  if (wait > 0) cost.examined();
  if (wait > 0 && !(endpoint === "enroll" && isPlain && (await isRightEnrollment(services, request.bytes))))
    return failure(429, `too many requests without a node key, retry after: ${wait}s`, wait);
  // Blocks of carves name their session instead.
  if (isPlain && request.bytes.length > strangerBodies.plain.max && endpoint !== "carve/block")
    return tooLarge(strangerBodies.plain.max);
  if (wait === 0) cost.admit();
  const most = isPlain || isFamiliar ? Number.POSITIVE_INFINITY : strangerBodies.inflated.max;
  const cap = Math.min(bodyCaps[endpoint], most);
  const replied = await cost.measure(() => serve(agent, services, endpoint, request, cap, cost));
  if (replied.status === 200 && replied !== DROPPED) cost.prove();
  return replied;
}

const isRightEnrollment = async (services: Services, bytes: Buffer): Promise<boolean> =>
  bytes.length <= strangerBodies.plain.max && hasRightSecret(services, bytes);

function serve(
  agent: Agent,
  services: Services,
  endpoint: EndpointName,
  { bytes, encoding, ...rest }: RawRequest,
  cap: number,
  cost?: StrangerCost,
): AgentReply | Promise<AgentReply> {
  if (encoding === undefined || encoding === "" || encoding === "identity")
    return agent.replyTo(endpoint, { ...rest, body: bytes });
  const coding = encoding.trim().toLowerCase();
  if (coding !== "gzip" && coding !== "x-gzip") return failure(415, "Content-Encoding must be gzip");
  const since = agent.load.arrival();
  return inflate(bytes, cap).then(
    async (body) => {
      cost?.charge((body.length / MiB) * INFLATING_MS_PER_MIB);
      // The inflated bytes are charged to the body budget until the reply is made, like an uncompressed body.
      const { sender, proved } = agent.senderOf({ first: body, encoding: undefined, ...rest });
      const isNamed = sender.trust === "proved" || (proved !== undefined && (await proved) !== null);
      if (cost && !isNamed && body.length > strangerBodies.plain.max && endpoint !== "carve/block")
        return tooLarge(strangerBodies.plain.max);
      const claim = services.running.of(bodyRoom).claim(sender, () => {});
      claim.received();
      if (!claim.add(body.length)) return busy;
      try {
        const handle = () => agent.replyTo(endpoint, { ...rest, body, since });
        return await (cost ? cost.measure(handle) : handle());
      } finally {
        claim.release();
      }
    },
    (error: unknown) => {
      if (error instanceof Oversize) return oversize(services, endpoint);
      if (error instanceof BadGzip) return failure(400, "the body is not gzip");
      services.log.error({ err: error, endpoint }, "an agent request failed");
      return internal;
    },
  );
}

/** What a stranger can cause too, so that it proves nothing. */
const DROPPED: AgentReply = { ...OK };

/**
 * Reply to a body above its size limit. Distributed results are accepted and dropped: if they were refused, the agent
 * would send them again with every poll, merged with newer ones (docs/protocols/agent.md, Retries).
 */
export function oversize({ metrics, log }: Services, endpoint: EndpointName): AgentReply {
  metrics.agentRequests.inc({ endpoint, outcome: "oversize" });
  log.warn({ endpoint, cap: bodyCaps[endpoint] }, "an agent's body is over the cap");
  return endpoint === "distributed/write" ? DROPPED : tooLarge(bodyCaps[endpoint]);
}

/** The error reply to an unknown path, a method other than POST or a dry run; null when the request is acceptable. */
export function misdirected(
  endpoint: EndpointName | "unknown",
  method: string,
  dryRun: string | string[] | null | undefined,
): AgentReply | null {
  if (endpoint === "unknown") return failure(404, "no such agent endpoint");
  if (method !== "POST") return failure(405, "agent endpoints take POST only");
  return String(dryRun ?? "").toLowerCase() === "true"
    ? failure(400, `this request does not support dry runs: ${OF_AGENTS}`)
    : null;
}
