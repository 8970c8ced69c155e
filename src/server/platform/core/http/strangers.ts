// What callers may cost before they have proved who they are: a budget of processor time for each address, and one for
// all of them together. Parsing is synchronous, so its time is measured and charged. Who then proves an identity gets
// back what was charged, so that the budgets of strangers concern no device, agent or user.
import { performance } from "node:perf_hooks";
import { STRANGER_LIMIT } from "../../../../api/endpoint.ts";
import { seconds } from "../clock.ts";
import type { Services } from "../context.ts";
import { limitExceeded } from "../errors.ts";
import { limit } from "../limits.ts";
import { part } from "../running.ts";
import { bodyRoom } from "./body-room.ts";
import { type Caller, isLoopback } from "./proxies.ts";

const beyond =
  "Further requests without a proved identity are refused with 429 and Retry-After, before their bodies are read; more than 20 refusals a second for one address are delayed.";

export const strangerLimits = {
  address: limit({
    what: "processor time for callers whose identity is not proved",
    max: 50,
    unit: "milliseconds",
    per: "address",
    period: seconds(1),
    beyond,
  }),
  all: limit({
    what: "processor time for all callers whose identity is not proved",
    max: 200,
    unit: "milliseconds",
    per: "server",
    period: seconds(1),
    beyond,
  }),
};

export const strangerBody = limit({
  what: "body of a caller whose identity is not proved, except for the responses of identity providers",
  max: STRANGER_LIMIT,
  unit: "bytes",
  per: "message",
  beyond:
    "The message is refused with 413. Larger ones have to begin with the key, the certificate or the name of a host.",
});

/**
 * The part of the budget of all that is kept for addresses from which hosts with valid keys call: a new device of an
 * office is not refused because of attacks from elsewhere.
 */
const RESERVE = 0.25;
/** Milliseconds that every request costs besides what is measured: the connection, routing, lookups, the reply. */
export const EACH = 2;
/** Milliseconds that a refusal costs that is sent without the router (`stranger-refusals.ts`). */
const REFUSAL = 0.2;
/** How many seconds' budgets refusals can overdraw. */
const DEEPEST = 2;
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

  /** Refusals must not keep the address out for long after a flood of requests has ended. */
  mayChargeRefusal(now: number): boolean {
    return this.balance(now) > -DEEPEST * this.#rate;
  }

  isDeep(now: number): boolean {
    return this.balance(now) < -this.#rate;
  }

  /** Seconds until the balance is above this share of what a second gives. */
  wait(share: number, now: number): number {
    const missing = this.#missing(share, now);
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

export interface StrangerRates {
  /** Milliseconds per second. */
  readonly address: number;
  readonly all: number;
}

/** The budgets of one server. `now` in milliseconds, of a clock that is not set back. */
export class StrangerBudgets {
  readonly #rates: StrangerRates;
  readonly #now: () => number;
  readonly #all: Bucket;
  readonly #places = new Map<string, Bucket>();
  /** Until then a budget may be empty. */
  #emptyUntil = Number.NEGATIVE_INFINITY;

  constructor(rates: StrangerRates, now: () => number = () => performance.now()) {
    this.#rates = rates;
    this.#now = now;
    this.#all = new Bucket(rates.all, now());
  }

  /** Seconds until the place may cause work again; 0 if it may do so now. */
  wait(place: string, isFamiliar: boolean): number {
    const now = this.#now();
    const own = this.#places.get(place)?.wait(0, now) ?? 0;
    return Math.max(own, this.#all.wait(isFamiliar ? 0 : RESERVE, now));
  }

  /** Whether any budget may be empty. Every request asks this, most of them while nobody attacks. */
  mayBeEmpty(): boolean {
    return this.#now() <= this.#emptyUntil;
  }

  /** Whether the place has overdrawn its own budget by more than a second's. */
  isDeep(place: string): boolean {
    return this.#places.get(place)?.isDeep(this.#now()) ?? false;
  }

  charge(place: string, milliseconds: number): void {
    const now = this.#now();
    this.#all.add(-milliseconds, now);
    const own = this.#bucketOf(place, now);
    own.add(-milliseconds, now);
    this.#noteEmpty(own, now);
  }

  /** Charges for finding out that the budget is empty. Returns what was charged. */
  chargeRefusal(place: string, milliseconds = REFUSAL): number {
    if (!this.#bucketOf(place, this.#now()).mayChargeRefusal(this.#now())) return 0;
    this.charge(place, milliseconds);
    return milliseconds;
  }

  #noteEmpty(own: Bucket, now: number): void {
    this.#emptyUntil = Math.max(this.#emptyUntil, own.until(0, now), this.#all.until(RESERVE, now));
  }

  refund(place: string, milliseconds: number): void {
    const now = this.#now();
    this.#all.add(milliseconds, now);
    this.#places.get(place)?.add(milliseconds, now);
  }

  #bucketOf(place: string, now: number): Bucket {
    const existing = this.#places.get(place);
    if (existing) return existing;
    if (this.#places.size >= ADDRESSES_MAX) this.#forgetOldest();
    const bucket = new Bucket(this.#rates.address, now);
    this.#places.set(place, bucket);
    return bucket;
  }

  /** So many addresses have emptied the budget of all, whoever is forgotten. */
  #forgetOldest(): void {
    for (const oldest of this.#places.keys()) {
      if (this.#places.size < ADDRESSES_MAX * 0.9) return;
      this.#places.delete(oldest);
    }
  }
}

export const strangerBudgets = part(
  "budgets of strangers",
  () => new StrangerBudgets({ address: strangerLimits.address.max, all: strangerLimits.all.max }),
);

/** What one request costs as long as nobody knows whose it is. */
export class StrangerCost {
  /** Null: the caller has no budget, because it is on this machine. */
  readonly #budgets: StrangerBudgets | null;
  readonly #place: string;
  readonly #isFamiliar: boolean;
  #isProved = false;
  #isMeasuring = false;
  #isAdmitted = false;
  #isExamined = false;
  #charged = 0;

  constructor(budgets: StrangerBudgets | null, place: string, isFamiliar: boolean) {
    this.#budgets = budgets;
    this.#place = place;
    this.#isFamiliar = isFamiliar;
  }

  get isProved(): boolean {
    return this.#isProved;
  }

  /** The caller is a host, a device or a user: what it costs is not that of a stranger. */
  prove(): void {
    if (this.#isProved) return;
    this.#isProved = true;
    if (this.#charged > 0) this.#budgets?.refund(this.#place, this.#charged);
    this.#charged = 0;
  }

  /** Seconds until the request may be tried again; 0 if there is budget for it. */
  wait(): number {
    return this.#isProved || !this.#budgets ? 0 : this.#budgets.wait(this.#place, this.#isFamiliar);
  }

  /** Throws 429 if the budget is empty. Otherwise the request itself is charged, once. */
  admit(): void {
    if (this.#isProved || this.#isAdmitted) return;
    const wait = this.wait();
    if (wait > 0) {
      this.examined();
      throw limitExceeded(wait);
    }
    this.accept();
  }

  /** Charges the request, and goes on with it. */
  accept(): void {
    if (!this.#isAdmitted) this.charge(EACH);
    this.#isAdmitted = true;
  }

  /** The request is looked at although the budget is empty, because its sender may prove an identity. */
  examined(): void {
    if (this.#isProved || this.#isExamined || !this.#budgets) return;
    this.#isExamined = true;
    this.#charged += this.#budgets.chargeRefusal(this.#place, EACH);
  }

  /** Runs synchronous work, and charges the time that it takes. */
  measure<T>(work: () => T): T {
    if (this.#isProved || !this.#budgets || this.#isMeasuring) return work();
    const started = performance.now();
    this.#isMeasuring = true;
    try {
      return work();
    } finally {
      this.#isMeasuring = false;
      this.charge(performance.now() - started);
    }
  }

  charge(milliseconds: number): void {
    if (this.#isProved || !this.#budgets) return;
    this.#charged += milliseconds;
    this.#budgets.charge(this.#place, milliseconds);
  }
}

/** The cost of a request from this caller. Calls from this machine have no budget, unless a proxy forwarded them. */
export function strangerCost({ running }: Pick<Services, "running">, { address, forwarded }: Caller): StrangerCost {
  if (address === "" || (isLoopback(address) && !forwarded)) return new StrangerCost(null, address, false);
  const { trust, name } = running.of(bodyRoom).byAddress(address);
  return new StrangerCost(running.of(strangerBudgets), name, trust === "familiar");
}

interface Costing {
  readonly cost?: StrangerCost | undefined;
}

/** Runs synchronous work for a caller who may be a stranger. */
export const measured = <T>({ cost }: Costing, work: () => T): T => (cost ? cost.measure(work) : work());

/**
 * The same for asynchronous work of libraries that never waits for anything: the time until it ends is what it costs.
 */
export async function measuredAsync<T>({ cost }: Costing, work: () => Promise<T>): Promise<T> {
  if (!cost) return work();
  const started = performance.now();
  try {
    return await work();
  } finally {
    cost.charge(performance.now() - started);
  }
}

/** The caller has proved who it is. */
export const proved = ({ cost }: Costing): void => cost?.prove();
