import { z } from "zod";
import { printable } from "../../../../text/printable.ts";
import { upstreamFailed } from "../../../platform/core/errors.ts";
import type { OutboundReply } from "../../../platform/core/outbound/fetch.ts";
import { retryAfterOf } from "../../../platform/core/outbound/reply.ts";

/**
 * `gone`: what is asked for does not exist any more, or belongs to another project. `refused`: the service does not
 * accept what was sent. `account`: it does not accept the service account. `busy`: too many requests. `unreachable`: no
 * usable reply.
 */
type AndroidProblem = "gone" | "refused" | "account" | "busy" | "unreachable";

/** The message may be shown to admins. */
export class AndroidError extends Error {
  readonly problem: AndroidProblem;
  /** Milliseconds after which to try again, if the service named a time. */
  readonly retryAfter: number | null;

  constructor(problem: AndroidProblem, message: string, retryAfter: number | null = null) {
    super(message);
    this.problem = problem;
    this.retryAfter = retryAfter;
  }
}

const Failure = z.object({ error: z.object({ message: z.string().default(""), status: z.string().default("") }) });
const MESSAGE_MAX = 500;

/** What a reply with an error means (google.rpc.Status as JSON). `what` names the service. */
export function problemOf({ status, headers, body }: OutboundReply, what: string): AndroidError {
  const reason = reasonIn(body);
  const said = reason === "" ? `with status ${status}` : `: ${reason}`;
  if (status === 404) return new AndroidError("gone", `${what} does not know it any more${reason && `: ${reason}`}`);
  if (status === 401 || status === 403)
    return new AndroidError("account", `${what} does not accept the service account${reason && `: ${reason}`}`);
  if (status === 429 || status === 503) {
    const wait = retryAfterOf({ headers });
    const retryAfter = wait === null ? null : wait * 1000;
    return new AndroidError("busy", `${what} accepts no more requests for now`, retryAfter);
  }
  if (status >= 400 && status < 500) return new AndroidError("refused", `${what} has refused the request ${said}`);
  return new AndroidError("unreachable", `${what} has answered ${said}`);
}

function reasonIn(body: Buffer): string {
  try {
    const failure = Failure.safeParse(JSON.parse(body.toString("utf8")));
    return failure.success ? printable(failure.data.error.message.slice(0, MESSAGE_MAX)) : "";
  } catch {
    return "";
  }
}

/** Errors of the vendor's service are shown to the admin: 502. */
export async function orUpstreamError<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof AndroidError) throw upstreamFailed(error.message);
    throw error;
  }
}
