import { hours, minutes } from "../core/clock.ts";
import type { Services } from "../core/context.ts";
import { limitExceeded } from "../core/errors.ts";
import { placeOf, Windows } from "../core/rate-limit.ts";

type LimitedBy = Pick<Services, "settings" | "clock">;

/**
 * Attempts from one address (and for one account, where one is named), and of all together. One bucket for the whole server would let a
 * single stranger keep everyone out; the last bucket bounds what is remembered here. Counts are of one server process.
 */
class Attempts {
  readonly #places: Windows;
  readonly #accounts: Windows;
  readonly #server: Windows;

  constructor(most: number, ofServer: number, span: number) {
    this.#places = new Windows(most, span);
    this.#accounts = new Windows(most, span);
    this.#server = new Windows(ofServer, span);
  }

  /** Counts one; 429 when it is one too many. */
  count(now: number, address: string, email?: string): void {
    const place = placeOf(address);
    const wait = Math.max(
      this.#places.wait(place, now),
      email === undefined ? 0 : this.#accounts.wait(email, now),
      this.#server.wait("", now),
    );
    if (wait > 0) throw limitExceeded(Math.ceil(wait / 1000));
    this.#places.add(place, now);
    if (email !== undefined) this.#accounts.add(email, now);
    this.#server.add("", now);
  }
}

const forgotten = () => new Attempts(10, 1000, hours(1));
const links = () => new Attempts(10, 300, minutes(1));
const resets = () => new Attempts(30, 300, minutes(1));

const all = new WeakMap<Services["settings"], { forgotten: Attempts; links: Attempts; resets: Attempts }>();

function attempts({ settings }: LimitedBy) {
  const known = all.get(settings);
  if (known) return known;
  const made = { forgotten: forgotten(), links: links(), resets: resets() };
  all.set(settings, made);
  return made;
}

/** Mails for a forgotten password: ten an hour from one address, and ten to one account. */
export const countForgotten = (ctx: LimitedBy, address: string, email: string): void =>
  attempts(ctx).forgotten.count(ctx.clock.now(), address, email);

/** Sign-ins by a mailed link: a bucket of their own, at the rate of sign-ins by password. */
export const countLink = (ctx: LimitedBy, address: string): void => attempts(ctx).links.count(ctx.clock.now(), address);

export const countReset = (ctx: LimitedBy, address: string): void =>
  attempts(ctx).resets.count(ctx.clock.now(), address);
