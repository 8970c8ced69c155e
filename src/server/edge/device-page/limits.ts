import type { HostRow } from "../../hosts/hosts/access.ts";
import { days, minutes } from "../../platform/core/clock.ts";
import type { Context } from "../../platform/core/context.ts";
import { type Limit, limit } from "../../platform/core/limits.ts";
import { countAttempt } from "../../platform/rate-limits/shared.ts";

const PERIOD_MS = minutes(10);
const beyond = "The call is refused with 429 and the time to wait.";

export const DEVICE_REFETCHES = limit({
  what: "refetches that the user of a host requests",
  max: 6,
  unit: "calls",
  per: "host",
  period: PERIOD_MS,
  beyond,
});
export const DEVICE_ACTIONS = limit({
  what: "actions on the page of a device: refetches, installs, sign-ins and all others",
  max: 120,
  unit: "calls",
  per: "host",
  period: PERIOD_MS,
  beyond,
});
export const DEVICE_ACTIONS_A_DAY = limit({
  what: "actions on the page of a device",
  max: 1_000,
  unit: "calls",
  per: "host",
  period: days(1),
  beyond,
});

const bucketOf = (scope: string, { id }: HostRow, { max, period }: Limit) => ({
  scope,
  key: `host ${id} ${period}`,
  most: max,
  span: period ?? PERIOD_MS,
});

/** Each action leaves something in the store or asks the host for something: 429 above the limit. */
export const countAction = (ctx: Context, host: HostRow): Promise<void> =>
  countAttempt(ctx, [
    bucketOf("device actions", host, DEVICE_ACTIONS),
    bucketOf("device actions", host, DEVICE_ACTIONS_A_DAY),
  ]);

export const countRefetch = (ctx: Context, host: HostRow): Promise<void> =>
  countAttempt(ctx, [bucketOf("device refetches", host, DEVICE_REFETCHES)]);
