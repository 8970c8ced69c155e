// What goes wrong with the directory, or with the token for it.
import { z } from "zod";
import { seconds } from "../../platform/core/clock.ts";
import type { OutboundReply } from "../../platform/core/outbound/fetch.ts";
import { jsonOf, retryAfterOf } from "../../platform/core/outbound/reply.ts";

/**
 * `credentials`: the directory does not accept them. `permission`: the app lacks a permission. `gone`: what was asked for
 * does not exist any more. `refused`: the directory does not accept the request. `busy`: it accepts no more requests for
 * now. `unreachable`: no usable reply.
 */
export type DirectoryProblem = "credentials" | "permission" | "gone" | "refused" | "busy" | "unreachable";

/** The message may be shown to admins. */
export class DirectoryError extends Error {
  readonly problem: DirectoryProblem;
  /** Milliseconds after which to try again, if the directory named a time. */
  readonly retryAfter: number | null;

  constructor(problem: DirectoryProblem, message: string, retryAfter: number | null = null) {
    super(message);
    this.problem = problem;
    this.retryAfter = retryAfter;
  }
}

const TokenFailure = z.object({ error: z.string(), error_description: z.string().optional() });

/** In milliseconds, if the reply names a time. */
export function busyAfter({ headers }: OutboundReply): number | null {
  const wait = retryAfterOf({ headers });
  return wait === null ? null : seconds(wait);
}

/** Only the error number of the directory's description is shown: the rest may contain parts of the request. */
export function tokenProblem(reply: OutboundReply): DirectoryError {
  if (reply.status === 429 || reply.status === 503)
    return new DirectoryError("busy", "the directory accepts no more requests for now", busyAfter(reply));
  const failure = TokenFailure.safeParse(jsonOf(reply));
  if (reply.status >= 400 && reply.status < 500 && failure.success) {
    const number = /^AADSTS\d{1,10}/.exec(failure.data.error_description ?? "")?.[0];
    const code = /^[a-z_]{1,64}$/.test(failure.data.error) ? failure.data.error : "unknown error";
    return new DirectoryError(
      "credentials",
      `the directory does not accept the credentials (${number ? `${code}, ${number}` : code})`,
    );
  }
  return new DirectoryError("unreachable", `the directory's sign-in service answered with status ${reply.status}`);
}

/** `permissions`: those that the app needs for the request. `retryAfter`: in milliseconds, if the directory named it. */
export function graphProblem(
  status: number,
  retryAfter: number | null,
  permissions = "User.Read.All and GroupMember.Read.All",
): DirectoryError {
  switch (status) {
    case 401:
      return new DirectoryError("credentials", "the directory does not accept the access token of the app");
    case 403:
      return new DirectoryError("permission", `the app lacks a permission in the directory: it needs ${permissions}`);
    case 404:
      return new DirectoryError("gone", "the directory does not know what was asked for");
    case 429:
    case 503:
      return new DirectoryError("busy", "the directory accepts no more requests for now", retryAfter);
    default: {
      const isRefusal = status >= 400 && status < 500;
      return new DirectoryError(isRefusal ? "refused" : "unreachable", `the directory answered with status ${status}`);
    }
  }
}
