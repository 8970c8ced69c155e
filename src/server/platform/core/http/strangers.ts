// What callers may cost before they have proved who they are. Parsing is synchronous, so its time is measured and charged
// to the budgets (`stranger-budgets.ts`). Who then proves an identity gets back what was charged, so that the budgets of
// strangers concern no device, agent or user.
import { performance } from "node:perf_hooks";
import { type Purpose, STRANGER_LIMIT } from "../../../../api/endpoint.ts";
import type { Services } from "../context.ts";
import { limitExceeded } from "../errors.ts";
import { limit } from "../limits.ts";
import { part } from "../running.ts";
import { bodyRoom } from "./body-room.ts";
import { type Caller, isLoopback } from "./proxies.ts";
import { type Charge, StrangerBudgets, strangerLimits } from "./stranger-budgets.ts";

export const strangerBody = limit({
  what: "body of a caller whose identity is not proved, except for the responses of identity providers",
  max: STRANGER_LIMIT,
  unit: "bytes",
  per: "message",
  beyond:
    "The message is refused with 413. Larger ones have to begin with the key, the certificate or the name of a host.",
});

/** Milliseconds that every request costs besides what is measured: the connection, routing, lookups, the reply. */
export const EACH = 2;

export const strangerBudgets = part(
  "budgets of strangers",
  () =>
    new StrangerBudgets({
      address: strangerLimits.address.max,
      proxy: strangerLimits.proxy.max,
      all: strangerLimits.all.max,
      "sign-in": strangerLimits["sign-in"].max,
      enrollment: strangerLimits.enrollment.max,
    }),
);

/** What one request costs as long as nobody knows whose it is. */
export class StrangerCost {
  /** Null: the caller has no budget, because it is on this machine. */
  readonly #budgets: StrangerBudgets | null;
  readonly #place: string;
  readonly #isFamiliar: boolean;
  #purpose: Purpose = "other";
  #isProved = false;
  #isMeasuring = false;
  #isAdmitted = false;
  #isExamined = false;
  /** Whether the budget is looked at again before the first work. */
  #needsRecheck = false;
  #charges: Charge[] = [];

  constructor(budgets: StrangerBudgets | null, place: string, isFamiliar: boolean) {
    this.#budgets = budgets;
    this.#place = place;
    this.#isFamiliar = isFamiliar;
  }

  get isProved(): boolean {
    return this.#isProved;
  }

  /** The request is a sign-in or an enrollment, for which a part of the budget is reserved. Called before anything else. */
  isFor(purpose: Purpose): void {
    this.#purpose = purpose;
  }

  /** The caller is a host, a device or a user: what it costs is not that of a stranger. */
  prove(): void {
    if (this.#isProved) return;
    this.#isProved = true;
    for (const charge of this.#charges) this.#budgets?.refund(charge);
    this.#charges = [];
  }

  /** Seconds until the request may be tried again; 0 if there is budget for it. */
  wait(): number {
    return this.#isProved || !this.#budgets ? 0 : this.#budgets.wait(this.#request(), this.#paid());
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
    this.#needsRecheck = true;
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
    this.#charges.push(this.#budgets.chargeRefusal(this.#place, EACH));
  }

  /** Runs synchronous work, and charges the time that it takes. */
  measure<T>(work: () => T): T {
    if (this.#isProved || !this.#budgets || this.#isMeasuring) return work();
    this.#recheck();
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
    this.#charges.push(this.#budgets.charge(this.#request(), milliseconds));
  }

  /**
   * Many requests may have been admitted before their bodies arrived, at the same moment: the budget is that of the
   * first of them.
   */
  #recheck(): void {
    if (!this.#needsRecheck) return;
    this.#needsRecheck = false;
    const wait = this.wait();
    if (wait > 0) throw limitExceeded(wait);
  }

  #request() {
    return { place: this.#place, isFamiliar: this.#isFamiliar, purpose: this.#purpose };
  }

  #paid(): number {
    return this.#charges.reduce((sum, { milliseconds }) => sum + milliseconds, 0);
  }
}

/**
 * The cost of a request from this caller. Calls from this machine have no budget, unless a proxy forwarded them: then all
 * callers behind it count as one address, because what they send as their own address is not trusted.
 */
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

/** Measures asynchronous work of libraries that never waits for anything: the time until it ends is what it costs. */
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
