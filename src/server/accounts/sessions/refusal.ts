import { seconds } from "../../platform/core/clock.ts";
import type { Context } from "../../platform/core/context.ts";
import { authenticationFailed } from "../../platform/core/errors.ts";

/** The minimum time of a refusal, so that its duration does not reveal what was wrong. */
const LEAST_TIME_OF_REFUSAL = seconds(1);

/** The refusal of a failed sign-in, after the minimum time since `started`. */
export async function refused({ clock }: Pick<Context, "clock">, started: number): Promise<Error> {
  await clock.sleep(Math.max(0, started + LEAST_TIME_OF_REFUSAL - clock.now()));
  return authenticationFailed();
}
