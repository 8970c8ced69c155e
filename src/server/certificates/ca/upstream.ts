// Sends requests to certificate authorities and classifies their failures.
import type { Services } from "../../platform/core/context.ts";
import {
  fetchOutbound,
  OutboundError,
  type OutboundReply,
  type OutboundRequest,
} from "../../platform/core/outbound/fetch.ts";

/**
 * `blocked`: this server must not connect to the address. `unreachable`: no reply, for any reason. `credentials`,
 * `permission`, `profile`, `full`: the error that the authority reported. `pending`: a person must approve the
 * request. `refused`: the authority refused it. `answer`: the reply violates the protocol.
 */
export type CaProblem =
  | "blocked"
  | "unreachable"
  | "credentials"
  | "permission"
  | "profile"
  | "full"
  | "pending"
  | "refused"
  | "answer";

/** The message is safe to show to admins: it contains no text from the authority. */
export class CaError extends Error {
  readonly problem: CaProblem;
  /** The HTTP status of the reply, if there was one. */
  readonly status: number | null;

  constructor(problem: CaProblem, message: string, status: number | null = null) {
    super(message);
    this.problem = problem;
    this.status = status;
  }
}

const TIMEOUT = 20_000;
const MAX_BYTES = 1024 * 1024;

export type Asking = Pick<Services, "running" | "dryRun">;

/** Does not follow redirects: the request contains secrets and must reach only the configured server. */
export async function askCa(services: Asking, url: string, request: OutboundRequest = {}): Promise<OutboundReply> {
  let reply: OutboundReply;
  try {
    reply = await fetchOutbound(services, url, { timeout: TIMEOUT, maxBytes: MAX_BYTES, ...request, redirects: 0 });
  } catch (error) {
    if (error instanceof OutboundError) throw plain(error);
    throw error;
  }
  if (reply.status >= 300 && reply.status < 400)
    throw new CaError("answer", `it redirects elsewhere (status ${reply.status}), which is not followed`, reply.status);
  return reply;
}

export const plain = (error: OutboundError): CaError =>
  new CaError(
    error.reason === "blocked" ? "blocked" : error.reason === "too_large" ? "answer" : "unreachable",
    error.message,
  );

export const mediaType = ({ headers }: OutboundReply): string =>
  (headers.get("content-type") ?? "").split(";")[0]!.trim().toLowerCase();
