// Paths, limits and error bodies of the agent endpoints. Agents ignore the HTTP status: only the body decides whether a
// call succeeded (docs/protocols/agent.md, Replies). So no body is empty, and success never has an `error` key.

import type { Caller } from "../core/http/proxies.ts";
import { type Limit, limit } from "../core/limits.ts";

export type EndpointName =
  | "enroll"
  | "config"
  | "log"
  | "distributed/read"
  | "distributed/write"
  | "carve/begin"
  | "carve/block"
  | "yara";

export interface AgentRequest extends Caller {
  /** Inflated. */
  readonly body: Buffer;
  /** The Authorization header. */
  readonly authorization: string | undefined;
  /** The last part of the path, decoded, where the endpoint has one (`yara/:name`). */
  readonly name?: string | undefined;
  /** When the request started to wait, by `performance.now()`, if it was queued before. */
  readonly since?: number;
}

export interface AgentReply {
  readonly status: number;
  readonly body: string;
  /** Seconds. Agents ignore it; people and load balancers read it. */
  readonly retryAfter?: number;
  /** The body is text, not JSON. */
  readonly plain?: boolean;
}

const KiB = 1024;
const MiB = 1024 * KiB;

/** Maximum body size in bytes, applied to the compressed and the inflated body. */
export const bodyCaps: Readonly<Record<EndpointName, number>> = {
  enroll: 64 * KiB,
  config: 16 * KiB,
  log: 100 * MiB,
  "distributed/read": 16 * KiB,
  "distributed/write": 100 * MiB,
  "carve/begin": 8 * KiB,
  "carve/block": 16 * MiB,
  yara: 16 * KiB,
};

const bodyLimit = (name: EndpointName): Limit =>
  limit({
    what: `message of a query agent to \`${name}\``,
    max: bodyCaps[name],
    unit: "bytes",
    per: "message",
    beyond:
      name === "distributed/write" ? "The results are acknowledged and dropped." : "The message is refused with 413.",
  });

export const endpointNames = Object.keys(bodyCaps) as EndpointName[];

export const prefixes = ["/api/v1/qengine/", "/api/qengine/", "/api/osquery/", "/api/v1/osquery/"] as const;

const byPath = new Map<string, EndpointName>(
  prefixes.flatMap((prefix) =>
    endpointNames.filter((name) => name !== "yara").map((name): [string, EndpointName] => [prefix + name, name]),
  ),
);
const yaraPaths = prefixes.map((prefix) => `${prefix}yara/`);

export const bodyLimits = endpointNames.map(bodyLimit);

/** The endpoint of a URL (path and query); `unknown` for other paths below the agent prefixes; null for all others. */
export function endpointAt(url: string): EndpointName | "unknown" | null {
  const exact = byPath.get(url);
  if (exact !== undefined) return exact;
  if (!prefixes.some((prefix) => url.startsWith(prefix))) return null;
  const query = url.indexOf("?");
  const path = query < 0 ? url : url.slice(0, query);
  return byPath.get(path) ?? (nameIn(path) === undefined ? "unknown" : "yara");
}

/** The name of the rule in a URL of `yara/:name`; undefined for other URLs, and for names that are no path segment. */
export function nameIn(url: string): string | undefined {
  const path = url.split("?", 1)[0]!;
  const before = yaraPaths.find((start) => path.startsWith(start));
  const last = before && path.slice(before.length);
  if (!last || last.includes("/")) return undefined;
  try {
    return decodeURIComponent(last);
  } catch {
    return undefined;
  }
}

export const OK: AgentReply = { status: 200, body: "{}" };
/** No queries to run. */
export const IDLE: AgentReply = { status: 200, body: '{"queries":{},"discovery":{}}' };
/** Seconds during which the agent polls every 5 s; sent until the host has reported its name and platform. */
export const ACCELERATE = 10;
export const IDLE_ACCELERATED: AgentReply = {
  status: 200,
  body: `{"queries":{},"discovery":{},"accelerate":${ACCELERATE}}`,
};

/** An error after which the agent keeps its state and retries. */
export const failure = (status: number, text: string, retryAfter?: number): AgentReply => ({
  status,
  body: JSON.stringify({ error: text }),
  ...(retryAfter === undefined ? {} : { retryAfter }),
});

/** Makes the agent drop its node key and enroll again. Only for keys that are certain to be unknown. */
export const nodeInvalid = (text = "authentication error: invalid node key"): AgentReply => ({
  status: 401,
  body: JSON.stringify({ error: text, node_invalid: true }),
});

/**
 * The carver takes any JSON body for success, so a rejected block is answered with a body that is not JSON. The agent
 * retries it and aborts the upload after three failures (docs/protocols/agent.md, Carves).
 */
export const forEndpoint = (endpoint: EndpointName, reply: AgentReply): AgentReply => {
  if (endpoint !== "carve/block" || reply.status === 200) return reply;
  const parsed: unknown = JSON.parse(reply.body);
  const text = typeof parsed === "object" && parsed !== null && "error" in parsed ? String(parsed.error) : "failed";
  return { ...reply, body: `error: ${text}\n`, plain: true };
};

export const malformed = failure(400, "the body is not a JSON object");
export const busy = failure(503, "the server is busy; try again", 5);
export const overdue = failure(503, "the request waited too long and was not processed; try again", 5);
export const storeUnavailable = failure(503, "the database cannot be reached or written to now; try again", 5);
export const filesUnavailable = failure(503, "files cannot be stored now: the server's bucket does not work", 5);
export const internal = failure(500, "internal error");
export const tooLarge = (cap: number): AgentReply => failure(413, `the body is larger than ${cap} bytes`);
