// Agent endpoints mounted in h3, for tests without a socket and where no Node server runs in front.
import type { H3, H3Event } from "h3";
import {
  type AgentReply,
  bodyCaps,
  endpointAt,
  forEndpoint,
  nameIn,
  prefixes,
} from "../../../platform/agent-protocol/wire.ts";
import type { Services } from "../../../platform/core/context.ts";
import { incomplete } from "../../../platform/core/http/body.ts";
import { callerOf } from "../../../platform/core/http/proxies.ts";
import type { Agent } from "../agent.ts";
import { answer, misdirected, oversize } from "./answer.ts";

export function mountAgent(app: H3, services: Services, agent: Agent): void {
  for (const prefix of prefixes)
    app.all(`${prefix}**`, async (event) => respond(event, await serve(event, services, agent)));
}

async function serve(event: H3Event, services: Services, agent: Agent): Promise<AgentReply> {
  const { method, headers, body } = event.req;
  const at = endpointAt(event.url.pathname) ?? "unknown";
  const refused = misdirected(at, method, headers.get("dry-run"));
  if (refused !== null || at === "unknown") return refused!;
  const bytes = await readAll(body, bodyCaps[at]);
  if (bytes === null) return forEndpoint(at, oversize(services, at));
  const replied = await answer(agent, services, at, {
    bytes,
    encoding: headers.get("content-encoding") ?? undefined,
    authorization: headers.get("authorization") ?? undefined,
    name: nameIn(event.url.pathname),
    ...callerOf(services, event.req.ip ?? "", headers),
  });
  return forEndpoint(at, replied);
}

/** Reads the whole body; null if it is over `cap` bytes, in which case the rest is discarded. */
async function readAll(body: AsyncIterable<Uint8Array> | null, cap: number): Promise<Buffer | null> {
  let chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of body ?? []) {
      size += chunk.byteLength;
      if (size <= cap) chunks.push(chunk);
      else chunks = [];
    }
  } catch {
    throw incomplete();
  }
  return size <= cap ? Buffer.concat(chunks, size) : null;
}

function respond(event: H3Event, { status, body, retryAfter, plain }: AgentReply): Response {
  const headers: Record<string, string> = { "content-type": plain ? "text/plain; charset=utf-8" : "application/json" };
  if (retryAfter !== undefined) headers["retry-after"] = String(retryAfter);
  return new Response(event.req.method === "HEAD" ? null : body, { status, headers });
}
