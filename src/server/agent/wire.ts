// The agent routes' paths, limits and error bodies. Agents ignore the status: only the body says whether a call worked
// (agent protocol, section 2.1), so nothing here is ever empty and success never has an `error` key.

export type EndpointName =
  | "enroll"
  | "config"
  | "log"
  | "distributed/read"
  | "distributed/write"
  | "carve/begin"
  | "carve/block";

export interface AgentRequest {
  /** As inflated. */
  readonly body: Buffer;
  /** The Authorization header. */
  readonly authorization: string | undefined;
  /** The caller's address by the trusted-proxy rule. */
  readonly address: string;
}

export interface AgentReply {
  readonly status: number;
  readonly body: string;
  /** Seconds, for people and load balancers. */
  readonly retryAfter?: number;
  /** The body is text, not JSON. */
  readonly plain?: boolean;
}

const KiB = 1024;
const MiB = 1024 * KiB;

/** Bytes at most, as sent and as inflated. */
export const bodyCaps: Readonly<Record<EndpointName, number>> = {
  enroll: 64 * KiB,
  config: 16 * KiB,
  log: 100 * MiB,
  "distributed/read": 16 * KiB,
  "distributed/write": 100 * MiB,
  "carve/begin": 8 * KiB,
  "carve/block": 16 * MiB,
};

export const endpointNames = Object.keys(bodyCaps) as EndpointName[];

export const prefixes = ["/api/v1/qengine/", "/api/osquery/", "/api/v1/osquery/"] as const;

const byPath = new Map<string, EndpointName>(
  prefixes.flatMap((prefix) => endpointNames.map((name): [string, EndpointName] => [prefix + name, name])),
);

/** What a URL (path and query) names: an endpoint, `unknown` for anything else below the agent prefixes, or null. */
export function endpointAt(url: string): EndpointName | "unknown" | null {
  const exact = byPath.get(url);
  if (exact !== undefined) return exact;
  if (!prefixes.some((prefix) => url.startsWith(prefix))) return null;
  const query = url.indexOf("?");
  return (query < 0 ? undefined : byPath.get(url.slice(0, query))) ?? "unknown";
}

export const OK: AgentReply = { status: 200, body: "{}" };
/** Nothing to run. */
export const IDLE: AgentReply = { status: 200, body: '{"queries":{},"discovery":{}}' };
/** Seconds for which an agent polls every 5 s, so that a host is known soon that has no name or platform yet. */
export const ACCELERATE = 10;
export const IDLE_ACCELERATED: AgentReply = {
  status: 200,
  body: `{"queries":{},"discovery":{},"accelerate":${ACCELERATE}}`,
};

/** A failure after which the agent keeps what it has and tries again. */
export const failure = (status: number, text: string, retryAfter?: number): AgentReply => ({
  status,
  body: JSON.stringify({ error: text }),
  ...(retryAfter === undefined ? {} : { retryAfter }),
});

/** Makes the agent drop its node key and enroll again: only when the key is surely unknown. */
export const nodeInvalid = (text = "authentication error: invalid node key"): AgentReply => ({
  status: 401,
  body: JSON.stringify({ error: text, node_invalid: true }),
});

/**
 * The carver takes every JSON for success: a block that was not kept is told by a body that is none. It is sent again, and
 * after three of them the upload ends (agent protocol, section 7).
 */
export const forEndpoint = (endpoint: EndpointName, reply: AgentReply): AgentReply => {
  if (endpoint !== "carve/block" || reply.status === 200) return reply;
  const told: unknown = JSON.parse(reply.body);
  const text = typeof told === "object" && told !== null && "error" in told ? String(told.error) : "failed";
  return { ...reply, body: `error: ${text}\n`, plain: true };
};

export const malformed = failure(400, "the body is not a JSON object");
export const busy = failure(503, "the server is busy; try again", 5);
export const storeAway = failure(503, "the database cannot be reached or written to now; try again", 5);
export const internal = failure(500, "internal error");
export const tooLarge = (cap: number): AgentReply => failure(413, `the body is over ${cap} bytes`);
