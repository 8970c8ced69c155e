// Handling of a request whose body has arrived, shared by both entry points (plain Node and h3).

import { OF_AGENTS } from "../../../api/dry-run.ts";
import {
  type AgentReply,
  bodyCaps,
  busy,
  type EndpointName,
  failure,
  internal,
  OK,
  tooLarge,
} from "../../agent-protocol/wire.ts";
import type { Services } from "../../core/context.ts";
import { bodyRoom } from "../../core/http/body-room.ts";
import type { Caller } from "../../core/http/proxies.ts";
import type { Agent } from "../start.ts";
import { BadGzip, inflate, Oversize } from "./inflate.ts";

export interface RawRequest extends Caller {
  readonly bytes: Buffer;
  readonly encoding: string | undefined;
  readonly authorization: string | undefined;
  readonly name: string | undefined;
}

export function answer(
  agent: Agent,
  services: Services,
  endpoint: EndpointName,
  { bytes, encoding, ...rest }: RawRequest,
): AgentReply | Promise<AgentReply> {
  if (encoding === undefined || encoding === "" || encoding === "identity")
    return agent.handle(endpoint, { ...rest, body: bytes });
  const coding = encoding.trim().toLowerCase();
  if (coding !== "gzip" && coding !== "x-gzip") return failure(415, "Content-Encoding must be gzip");
  const since = agent.load.arrival();
  return inflate(bytes, bodyCaps[endpoint]).then(
    (body) => {
      // The inflated bytes are charged to the body budget until the reply is made, like an uncompressed body.
      const { sender } = agent.senderOf({ first: body, encoding: undefined, ...rest });
      const claim = services.running.of(bodyRoom).claim(sender, () => {});
      claim.received();
      if (!claim.add(body.length)) return busy;
      const replied = agent.handle(endpoint, { ...rest, body, since });
      if (replied instanceof Promise) return replied.finally(() => claim.release());
      claim.release();
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
 * Reply to a body above its size limit. Distributed results are accepted and dropped: if they were refused, the agent
 * would send them again with every poll, merged with newer ones (agent protocol, section 2.4).
 */
export function oversize({ metrics, log }: Services, endpoint: EndpointName): AgentReply {
  metrics.agentRequests.inc({ endpoint, outcome: "oversize" });
  log.warn({ endpoint, cap: bodyCaps[endpoint] }, "an agent's body is over the cap");
  return endpoint === "distributed/write" ? OK : tooLarge(bodyCaps[endpoint]);
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
