// What both ways in (plain Node, h3) do with a request whose bytes are there.
import type { Services } from "../core/context.ts";
import { BadGzip, inflate, Oversize } from "./inflate.ts";
import type { Agent } from "./start.ts";
import { type AgentReply, bodyCaps, busy, type EndpointName, failure, internal, OK, tooLarge } from "./wire.ts";

export interface RawRequest {
  readonly bytes: Buffer;
  readonly encoding: string | undefined;
  readonly authorization: string | undefined;
  readonly address: string;
}

export function answer(
  agent: Agent,
  services: Services,
  endpoint: EndpointName,
  { bytes, encoding, authorization, address }: RawRequest,
): AgentReply | Promise<AgentReply> {
  if (encoding === undefined || encoding === "" || encoding === "identity")
    return agent.handle(endpoint, { body: bytes, authorization, address });
  const coding = encoding.trim().toLowerCase();
  if (coding !== "gzip" && coding !== "x-gzip") return failure(415, "Content-Encoding must be gzip");
  return inflate(bytes, bodyCaps[endpoint]).then(
    (body) => {
      // What it inflated to is held until it is answered, like a body that came in whole.
      if (!agent.load.reserve(body.length)) return busy;
      const replied = agent.handle(endpoint, { body, authorization, address });
      if (replied instanceof Promise) return replied.finally(() => agent.load.release(body.length));
      agent.load.release(body.length);
      return replied;
    },
    (error: unknown) => {
      if (error instanceof Oversize) return oversize(services, endpoint);
      if (error instanceof BadGzip) return failure(400, "the body is not gzip");
      services.log.error({ err: error, endpoint }, "an agent request failed");
      return internal;
    },
  );
}

/**
 * A body over its cap. Results that were refused would be sent again with every poll, merged with newer ones: they are
 * taken and dropped (agent protocol, section 2.4).
 */
export function oversize({ metrics, log }: Services, endpoint: EndpointName): AgentReply {
  metrics.agentRequests.inc({ endpoint, outcome: "oversize" });
  log.warn({ endpoint, cap: bodyCaps[endpoint] }, "an agent's body is over the cap");
  return endpoint === "distributed/write" ? OK : tooLarge(bodyCaps[endpoint]);
}

/** The reply below the agent prefixes to what is no endpoint, or not a POST; null when it is fine. */
export function misdirected(endpoint: EndpointName | "unknown", method: string): AgentReply | null {
  if (endpoint === "unknown") return failure(404, "no such agent endpoint");
  return method === "POST" ? null : failure(405, "agent endpoints take POST only");
}
