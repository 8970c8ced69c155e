// One way to ask a certificate authority something, and what can go wrong with it.
import type { Services } from "../core/context.ts";
import { fetchOutbound, OutboundError, type OutboundReply, type OutboundRequest } from "../core/outbound.ts";

/**
 * `blocked`: an address that this server must not connect to. `unreachable`: no reply, whatever the cause. `credentials`, `permission`, `profile`, `full`: the
 * authority said so. `pending`: it wants a person to look first. `refused`: it said no. `answer`: what came is not what the protocol knows.
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

/** The message is fit for an admin; nothing of what the authority wrote is in it. */
export class CaError extends Error {
  readonly problem: CaProblem;
  /** The HTTP status of the reply, where one came. */
  readonly status: number | null;

  constructor(problem: CaProblem, message: string, status: number | null = null) {
    super(message);
    this.problem = problem;
    this.status = status;
  }
}

const TIMEOUT = 20_000;
const MAX_BYTES = 1024 * 1024;

export type Asking = Pick<Services, "settings">;

/** Follows no redirect: what is sent holds secrets, and goes where an admin said. */
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

/** The bytes of base64 text, which may have line breaks; null for anything else. `Buffer.from` alone skips what it does not know. */
export function fromBase64(text: string): Buffer | null {
  const bare = text.replace(/[\s]+/g, "");
  return bare.length > 0 && bare.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(bare)
    ? Buffer.from(bare, "base64")
    : null;
}
