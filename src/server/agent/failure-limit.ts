// How many failed attempts one address may make in a while. Successes are never counted: many hosts share an address.
import { BlockList, isIP } from "node:net";
import type { Clock } from "../core/clock.ts";
import { placeOf } from "../core/rate-limit.ts";

export interface FailureLimit {
  /** Counts a failure. Gives the seconds to wait when the address is over its limit, else 0. */
  fail(address: string): number;
}

const MINUTE_MS = 60_000;
const ADDRESSES_MAX = 50_000;

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

const isLoopback = (address: string): boolean => {
  const family = isIP(address);
  return family !== 0 && loopback.check(address, family === 6 ? "ipv6" : "ipv4");
};

export function createFailureLimit(clock: Clock, most: number, windowMs = MINUTE_MS): FailureLimit {
  const windows = new Map<string, { since: number; failures: number }>();
  return {
    fail(address) {
      if (isLoopback(address)) return 0;
      const now = clock.now();
      const place = placeOf(address);
      let window = windows.get(place);
      if (!window || now - window.since >= windowMs || now < window.since) {
        windows.delete(place);
        if (windows.size >= ADDRESSES_MAX) for (const oldest of windows.keys()) if (windows.delete(oldest)) break;
        window = { since: now, failures: 0 };
        windows.set(place, window);
      }
      window.failures++;
      return window.failures > most ? Math.max(1, Math.ceil((window.since + windowMs - now) / 1000)) : 0;
    },
  };
}
