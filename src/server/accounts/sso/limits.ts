import { minutes } from "../../platform/core/clock.ts";
import { countCall } from "../../platform/rate-limits/attempts.ts";
import type { LimitedBy } from "../../platform/rate-limits/shared.ts";

export const SSO_PER_MINUTE = 120;
const SSO_PER_MINUTE_OF_ALL = 3_000;

/**
 * Counts a call and throws 429 above the limit. These steps need no authentication, and each costs a row or the
 * verification of a signature. A whole office may sign in from one address, so the limit is higher than that for
 * passwords; there is nothing to guess here.
 */
export const countSsoStep = (ctx: LimitedBy, step: "start" | "callback" | "code", address: string): Promise<void> =>
  countCall(
    ctx,
    { scope: `single sign-on ${step}`, most: SSO_PER_MINUTE, ofAll: SSO_PER_MINUTE_OF_ALL, span: minutes(1) },
    address,
  );
