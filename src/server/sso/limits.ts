import type { Clock } from "../core/clock.ts";
import type { Services } from "../core/context.ts";
import { limitExceeded } from "../core/errors.ts";
import { placeOf, Windows } from "../core/rate-limit.ts";

export const SSO_PER_MINUTE = 120;
const SSO_PER_MINUTE_OF_SERVER = 3_000;

/**
 * Nobody needs a token for these steps, and each costs a row or the check of a signature. An office signs in from one address: its limit is
 * wider than that of passwords, as there is nothing here to guess.
 */
class SsoLimits {
  readonly #clock: Pick<Clock, "now">;
  readonly #steps = {
    start: { addresses: new Windows(SSO_PER_MINUTE), server: new Windows(SSO_PER_MINUTE_OF_SERVER) },
    callback: { addresses: new Windows(SSO_PER_MINUTE), server: new Windows(SSO_PER_MINUTE_OF_SERVER) },
    code: { addresses: new Windows(SSO_PER_MINUTE), server: new Windows(SSO_PER_MINUTE_OF_SERVER) },
  };

  constructor(clock: Pick<Clock, "now">) {
    this.#clock = clock;
  }

  /** Counts one; 429 when it is one too many. */
  count(step: "start" | "callback" | "code", address: string): void {
    const now = this.#clock.now();
    const { addresses, server } = this.#steps[step];
    const place = placeOf(address);
    const wait = Math.max(addresses.wait(place, now), server.wait("", now));
    if (wait > 0) throw limitExceeded(Math.ceil(wait / 1000));
    addresses.add(place, now);
    server.add("", now);
  }
}

const limitsOf = new WeakMap<Services["settings"], SsoLimits>();

/** Of the server that has these settings. */
export function ssoLimits({ settings, clock }: Pick<Services, "settings" | "clock">): SsoLimits {
  const known = limitsOf.get(settings);
  if (known) return known;
  const limits = new SsoLimits(clock);
  limitsOf.set(settings, limits);
  return limits;
}
