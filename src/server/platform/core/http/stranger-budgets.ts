// The budgets of processor time of strangers: one for each address, one for all of them together, and what is reserved
// for sign-ins and enrollments, so that no other kind of request can lock users and new devices out.
import { performance } from "node:perf_hooks";
import type { Purpose } from "../../../../api/endpoint.ts";
import { seconds } from "../clock.ts";
import { limit } from "../limits.ts";
import { isLoopback } from "./proxies.ts";

const beyond =
  "Further requests without a proved identity are refused with 429 and Retry-After, before their bodies are read; more than 20 refusals a second for one address are delayed.";
const inOneSecond = { unit: "milliseconds", period: seconds(1) } as const;

export const strangerLimits = {
  address: limit({
    ...inOneSecond,
    what: "processor time for callers whose identity is not proved",
    max: 50,
    per: "address",
    beyond: `${beyond} What one request costs beyond it is a debt of its address, and of nobody else. Callers on the server's machine have no limit, unless a header says that a proxy forwarded the request.`,
  }),
  proxy: limit({
    ...inOneSecond,
    what: "processor time for all callers behind a proxy on the server's machine that is not in `--trusted-proxies`, whose identity is not proved",
    max: 100,
    per: "server",
    beyond: `${beyond} Sign-ins and enrollments through such a proxy have the limits of the server only.`,
  }),
  all: limit({
    ...inOneSecond,
    what: "processor time for all callers whose identity is not proved",
    max: 120,
    per: "server",
    beyond: `${beyond} A quarter is kept for addresses from which hosts call.`,
  }),
  "sign-in": limit({
    ...inOneSecond,
    what: "processor time reserved for sign-ins, while all others have used up theirs",
    max: 40,
    per: "server",
    beyond: "Further ones are refused with 429 and Retry-After until there is room.",
  }),
  enrollment: limit({
    ...inOneSecond,
    what: "processor time reserved for enrollments, while all others have used up theirs",
    max: 40,
    per: "server",
    beyond:
      "Further ones are refused with 429 and Retry-After until there is room, except for agents whose uncompressed message has a right secret.",
  }),
};

/**
 * The part of the budget of all that is kept for addresses from which hosts with valid keys call: a new device of an
 * office is not refused because of attacks from elsewhere.
 */
const RESERVE = 0.25;
/** Milliseconds that a refusal costs that is sent without the router (`stranger-refusals.ts`). */
const REFUSAL = 0.2;
/** How many seconds' budgets refusals can overdraw. */
const DEEPEST = 2;
/** How many seconds' budgets all strangers together can overdraw: so long are they refused at most after a flood. */
const DEEPEST_OF_ALL = 1;
/** Addresses whose balance is remembered. */
const ADDRESSES_MAX = 20_000;

/** A budget that is refilled steadily, up to what one second gives. It may be overdrawn by the request that empties it. */
class Bucket {
  readonly #rate: number;
  #balance: number;
  #at: number;

  constructor(rate: number, now: number) {
    this.#rate = rate;
    this.#balance = rate;
    this.#at = now;
  }

  balance(now: number): number {
    this.#balance = Math.min(this.#rate, this.#balance + ((now - this.#at) / 1000) * this.#rate);
    this.#at = now;
    return this.#balance;
  }

  add(milliseconds: number, now: number): void {
    this.#balance = Math.min(this.#rate, this.balance(now) + milliseconds);
  }

  /** Removes at most so much that the debt stays payable soon. Returns what was removed. */
  removeBounded(milliseconds: number, now: number): number {
    const removed = Math.max(0, Math.min(milliseconds, this.balance(now) + DEEPEST_OF_ALL * this.#rate));
    this.add(-removed, now);
    return removed;
  }

  /** Refusals must not keep the address out for long after a flood of requests has ended. */
  mayChargeRefusal(now: number): boolean {
    return this.balance(now) > -DEEPEST * this.#rate;
  }

  isDeep(now: number): boolean {
    return this.balance(now) < -this.#rate;
  }

  /** Seconds until the balance, to which `paid` is added, is above this share of what a second gives. */
  wait(share: number, now: number, paid = 0): number {
    const missing = this.#missing(share, now) - paid / this.#rate;
    return missing < 0 ? 0 : Math.max(1, Math.ceil(missing));
  }

  /** When the balance will be above this share. */
  until(share: number, now: number): number {
    return now + 1000 * this.#missing(share, now);
  }

  #missing(share: number, now: number): number {
    return (share * this.#rate - this.balance(now)) / this.#rate;
  }
}

/** Milliseconds per second. */
type StrangerRates = Readonly<Record<keyof typeof strangerLimits, number>>;

export interface StrangerRequest {
  /** The address, or the network that counts as one. */
  readonly place: string;
  /** Whether hosts with valid keys have called from there. */
  readonly isFamiliar: boolean;
  readonly purpose: Purpose;
}

/** What a charge has removed from which budgets, to give it back. */
export interface Charge {
  readonly place: string;
  readonly milliseconds: number;
  readonly shared: { readonly bucket: Bucket; readonly milliseconds: number } | null;
}

/** The budgets of one server. `now` in milliseconds, of a clock that is not set back. */
export class StrangerBudgets {
  readonly #rates: StrangerRates;
  readonly #now: () => number;
  readonly #all: Bucket;
  readonly #reserves: Readonly<Record<Exclude<Purpose, "other">, Bucket>>;
  readonly #places = new Map<string, Bucket>();
  /** Time until which a budget may be empty. */
  #emptyUntil = Number.NEGATIVE_INFINITY;

  constructor(rates: StrangerRates, now: () => number = () => performance.now()) {
    this.#rates = rates;
    this.#now = now;
    this.#all = new Bucket(rates.all, now());
    this.#reserves = {
      "sign-in": new Bucket(rates["sign-in"], now()),
      enrollment: new Bucket(rates.enrollment, now()),
    };
  }

  /** Seconds until the request may cause work; 0 if it may do so now. `paid`: what it has been charged already. */
  wait({ place, isFamiliar, purpose }: StrangerRequest, paid = 0): number {
    const now = this.#now();
    const ofAll = this.#all.wait(isFamiliar ? 0 : RESERVE, now, paid);
    const shared = purpose === "other" ? ofAll : Math.min(ofAll, this.#reserves[purpose].wait(0, now, paid));
    // Whoever floods the server through an untrusted proxy must not keep the others behind it from signing in.
    if (purpose !== "other" && isLoopback(place)) return shared;
    return Math.max(this.#places.get(place)?.wait(0, now, paid) ?? 0, shared);
  }

  /** Whether any budget may be empty. Every request asks this, most of them while nobody attacks. */
  mayBeEmpty(): boolean {
    return this.#now() <= this.#emptyUntil;
  }

  /**
   * Whether the place has overdrawn its own budget by more than a second's. An untrusted proxy never has: too many hosts
   * may call through it.
   */
  isDeep(place: string): boolean {
    return !isLoopback(place) && (this.#places.get(place)?.isDeep(this.#now()) ?? false);
  }

  /**
   * The budget of all pays only for what the place has in its own: one request, however much it costs, and one address
   * keep no others out.
   */
  charge({ place, isFamiliar, purpose }: StrangerRequest, milliseconds: number): Charge {
    const now = this.#now();
    const ownBucket = this.#bucketOf(place, now);
    const covered = Math.min(milliseconds, Math.max(0, ownBucket.balance(now)));
    ownBucket.add(-milliseconds, now);
    const hasRoom = this.#all.wait(isFamiliar ? 0 : RESERVE, now) === 0;
    const bucket = purpose === "other" || hasRoom ? this.#all : this.#reserves[purpose];
    const shared = { bucket, milliseconds: bucket.removeBounded(covered, now) };
    this.#noteEmpty(ownBucket, now);
    return { place, milliseconds, shared };
  }

  /**
   * Charges the place for finding out that a budget is empty. Others do not pay for it: they would be refused for longer
   * the more are refused.
   */
  chargeRefusal(place: string, milliseconds = REFUSAL): Charge {
    const now = this.#now();
    const bucket = this.#bucketOf(place, now);
    if (!bucket.mayChargeRefusal(now)) return { place, milliseconds: 0, shared: null };
    bucket.add(-milliseconds, now);
    this.#noteEmpty(bucket, now);
    return { place, milliseconds, shared: null };
  }

  #noteEmpty(bucket: Bucket, now: number): void {
    this.#emptyUntil = Math.max(this.#emptyUntil, bucket.until(0, now), this.#all.until(RESERVE, now));
  }

  refund({ place, milliseconds, shared }: Charge): void {
    const now = this.#now();
    this.#places.get(place)?.add(milliseconds, now);
    shared?.bucket.add(shared.milliseconds, now);
  }

  #bucketOf(place: string, now: number): Bucket {
    const existing = this.#places.get(place);
    if (existing) return existing;
    if (this.#places.size >= ADDRESSES_MAX) this.#forgetOldest();
    const bucket = new Bucket(isLoopback(place) ? this.#rates.proxy : this.#rates.address, now);
    this.#places.set(place, bucket);
    return bucket;
  }

  /** Keeps the number of places bounded. So many addresses have emptied the budget of all, whoever is forgotten. */
  #forgetOldest(): void {
    for (const oldest of this.#places.keys()) {
      if (this.#places.size < ADDRESSES_MAX * 0.9) return;
      this.#places.delete(oldest);
    }
  }
}
