import { isIP } from "node:net";
import type { Clock } from "./clock.ts";
import type { Services } from "./context.ts";
import { limitExceeded } from "./errors.ts";

const MINUTE = 60_000;

/** Counts what happened under a key within the last minute (or other span). A key that was quiet for as long takes no memory. */
export class Windows {
  readonly #times = new Map<string, number[]>();
  readonly #most: number;
  readonly #span: number;
  #swept = 0;

  constructor(most: number, span = MINUTE) {
    this.#most = most;
    this.#span = span;
  }

  /** Milliseconds until one more fits; 0 when it does now. */
  wait(key: string, now: number): number {
    const times = this.#recent(key, now);
    return times.length < this.#most ? 0 : Math.max(1, times[times.length - this.#most]! + this.#span - now);
  }

  add(key: string, now: number): void {
    this.#sweep(now);
    const times = this.#recent(key, now);
    times.push(now);
    this.#times.set(key, times);
  }

  forget(key: string): void {
    this.#times.delete(key);
  }

  get size(): number {
    return this.#times.size;
  }

  // A clock that was set back leaves times in the future: they count as of now, so that nobody waits longer than the span.
  #recent(key: string, now: number): number[] {
    const held = this.#times.get(key);
    if (!held) return [];
    const times = held.map((time) => Math.min(time, now)).filter((time) => time > now - this.#span);
    if (times.length === 0) this.#times.delete(key);
    else this.#times.set(key, times);
    return times;
  }

  #sweep(now: number): void {
    if (Math.abs(now - this.#swept) < this.#span) return;
    this.#swept = now;
    for (const key of [...this.#times.keys()]) this.#recent(key, now);
  }
}

export const LOGINS_PER_MINUTE = 10;
export const LOGINS_PER_MINUTE_OF_SERVER = 300;
const KNOWN_PLACES = 10_000;

/**
 * Sign-ins: ten within a minute from one address and ten for one account, from wherever they come.
 *
 * One bucket of ten for the whole server would let a single stranger keep everyone out, and buckets by address alone would let
 * many strangers try one account: so both, and one of 300 for the server, which bounds the hashing and the memory here (only
 * attempts that were let through are remembered). An address from which the account signed in before has a count of its own
 * for that account, so that strangers' guesses do not lock out its owner. Counts are of one server process.
 */
export class LoginLimits {
  readonly #clock: Pick<Clock, "now">;
  readonly #addresses = new Windows(LOGINS_PER_MINUTE);
  readonly #accounts = new Windows(LOGINS_PER_MINUTE);
  readonly #server = new Windows(LOGINS_PER_MINUTE_OF_SERVER);
  readonly #wrongCurrent = new Windows(LOGINS_PER_MINUTE);
  readonly #known = new Set<string>();

  constructor(clock: Pick<Clock, "now">) {
    this.#clock = clock;
  }

  /** Counts one attempt; 429 when it is one too many. */
  attempt(address: string, email: string): void {
    const now = this.#clock.now();
    const place = placeOf(address);
    const account = this.#accountKey(place, email);
    const wait = Math.max(
      this.#addresses.wait(place, now),
      this.#accounts.wait(account, now),
      this.#server.wait("", now),
    );
    if (wait > 0) throw limitExceeded(Math.ceil(wait / 1000));
    this.#addresses.add(place, now);
    this.#accounts.add(account, now);
    this.#server.add("", now);
  }

  /** Only failures count against an account. */
  succeeded(address: string, email: string): void {
    const place = placeOf(address);
    this.#accounts.forget(this.#accountKey(place, email));
    const pair = pairKey(place, email);
    this.#known.delete(pair);
    this.#known.add(pair);
    if (this.#known.size > KNOWN_PLACES) this.#known.delete(this.#known.values().next().value!);
  }

  /** A signed-in user shows its current password: as many wrong ones as wrong sign-ins, so that a stolen token finds it no faster. */
  async showingPassword(userId: number, check: () => Promise<boolean>): Promise<boolean> {
    const key = String(userId);
    const wait = this.#wrongCurrent.wait(key, this.#clock.now());
    if (wait > 0) throw limitExceeded(Math.ceil(wait / 1000));
    // Counted before the answer is known: calls made at once must not all pass.
    this.#wrongCurrent.add(key, this.#clock.now());
    const right = await check();
    if (right) this.#wrongCurrent.forget(key);
    return right;
  }

  /** Keys held in memory. */
  get size(): number {
    return this.#addresses.size + this.#accounts.size + this.#known.size + this.#wrongCurrent.size;
  }

  #accountKey(place: string, email: string): string {
    const pair = pairKey(place, email);
    return this.#known.has(pair) ? pair : `account ${email}`;
  }
}

/** Emails here are whatever a stranger typed: none can be spelled like the key of a pair. */
const pairKey = (place: string, email: string): string => `pair ${place}\n${email}`;

/** An IPv6 customer has a whole /64 of addresses: that counts as one. */
export function placeOf(address: string): string {
  if (isIP(address) !== 6) return address;
  const [head = "", tail] = address.split("%")[0]!.toLowerCase().split("::") as [string, string?];
  const left = head === "" ? [] : head.split(":");
  const right = tail === undefined || tail === "" ? [] : tail.split(":");
  const groups = [...left, ...Array<string>(Math.max(0, 8 - left.length - right.length)).fill("0"), ...right];
  return groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(":");
}

const limitsOf = new WeakMap<Services["settings"], LoginLimits>();

/** The limits of the server that has these settings: each server has one settings object. */
export function loginLimits({ settings, clock }: Pick<Services, "settings" | "clock">): LoginLimits {
  const known = limitsOf.get(settings);
  if (known) return known;
  const limits = new LoginLimits(clock);
  limitsOf.set(settings, limits);
  return limits;
}
