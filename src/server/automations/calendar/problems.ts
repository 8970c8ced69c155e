// What goes wrong with a calendar, or with the token for it.
import { z } from "zod";
import { seconds } from "../../platform/core/clock.ts";
import { OutboundError, type OutboundReply } from "../../platform/core/outbound/fetch.ts";
import { jsonOf, retryAfterOf } from "../../platform/core/outbound/reply.ts";

/**
 * `account`: the service account may not act for this user. `refused`: the calendar does not accept the request. `busy`:
 * it accepts no more requests for now. `unreachable`: no usable reply.
 */
type CalendarProblem = "account" | "refused" | "busy" | "unreachable";

/** The message may be shown to admins. */
export class CalendarError extends Error {
  readonly problem: CalendarProblem;
  readonly status: number | null;
  /** Milliseconds after which to try again, if the calendar named a time. */
  readonly retryAfter: number | null;

  constructor(problem: CalendarProblem, message: string, more: { status?: number; retryAfter?: number | null } = {}) {
    super(message);
    this.problem = problem;
    this.status = more.status ?? null;
    this.retryAfter = more.retryAfter ?? null;
  }
}

const Failure = z.object({
  error: z.union([
    z.string(),
    z.object({ errors: z.array(z.object({ reason: z.string() })).default([]), message: z.string().default("") }),
  ]),
});

/** Runs the request, and reports a server that cannot be reached. */
export async function reached<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof OutboundError) throw new CalendarError("unreachable", error.message);
    throw error;
  }
}

const busyProblem = (reply: OutboundReply): CalendarError => {
  const wait = retryAfterOf(reply);
  return new CalendarError("busy", "the calendar accepts no more requests for now", {
    status: reply.status,
    retryAfter: wait === null ? null : seconds(wait),
  });
};

export function tokenProblem(reply: OutboundReply): CalendarError {
  const { status } = reply;
  if (status === 429 || status === 503) return busyProblem(reply);
  const failure = Failure.safeParse(jsonOf(reply));
  const code = failure.success && typeof failure.data.error === "string" ? failure.data.error : "";
  if (status >= 400 && status < 500)
    return new CalendarError(
      "account",
      `the token service gives the service account no access to the user's calendar${/^[a-z_]{1,64}$/.test(code) ? ` (${code})` : ""}`,
      { status },
    );
  return new CalendarError("unreachable", `the token service answered with status ${status}`, { status });
}

const RATE_LIMITS = ["rateLimitExceeded", "userRateLimitExceeded", "quotaExceeded"];

export function calendarProblem(reply: OutboundReply): CalendarError {
  const { status } = reply;
  const failure = Failure.safeParse(jsonOf(reply));
  const reasons =
    failure.success && typeof failure.data.error !== "string"
      ? failure.data.error.errors.map(({ reason }) => reason)
      : [];
  const reason = /^[A-Za-z]{1,64}$/.test(reasons[0] ?? "") ? ` (${reasons[0]})` : "";
  if (status === 429 || status === 503 || (status === 403 && reasons.some((each) => RATE_LIMITS.includes(each))))
    return busyProblem(reply);
  if (status === 401 || status === 403)
    return new CalendarError("account", `the service account may not use the user's calendar${reason}`, { status });
  if (status >= 400 && status < 500)
    return new CalendarError("refused", `the calendar refused the request with status ${status}${reason}`, { status });
  return new CalendarError("unreachable", `the calendar answered with status ${status}`, { status });
}
