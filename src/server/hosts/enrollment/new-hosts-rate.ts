// How many new hosts one enroll secret may add in an hour: whoever has it can invent any number of machines.
import { hours } from "../../platform/core/clock.ts";
import type { Services } from "../../platform/core/context.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { addAmounts, allowances } from "../../platform/rate-limits/amounts.ts";
import { type Bucket, countAttempt, type LimitedBy } from "../../platform/rate-limits/shared.ts";
import type { Refusal } from "./kind.ts";

const RATE_SPAN = hours(1);

interface Secret {
  /** Absent where the machine has proved its identity by other means. */
  readonly secretHash?: string;
}

/** The new hosts of one transaction. */
export class NewHostsRate {
  readonly #most: number;
  readonly #left = new Map<string, { left: number; readonly wait: number }>();
  readonly #added = new Map<string, number>();

  private constructor(most: number) {
    this.#most = most;
  }

  /** `requests`: those of machines that are not known. */
  static async read(
    tx: ServerTx,
    { settings, clock }: Pick<Services, "settings" | "clock">,
    requests: readonly Secret[],
  ): Promise<NewHostsRate> {
    const rate = new NewHostsRate(settings.enroll_max_new_hosts);
    const hashes = [...new Set(requests.flatMap(({ secretHash }) => secretHash ?? []))];
    const buckets = hashes.map((hash) => rate.#bucketOf(hash));
    const allowed = await allowances(tx, clock.now(), buckets);
    for (const [i, hash] of hashes.entries()) rate.#left.set(hash, allowed[i]!);
    return rate;
  }

  /** Counts one more new host, or refuses it. */
  admit({ secretHash }: Secret): Refusal | null {
    const allowance = secretHash === undefined ? undefined : this.#left.get(secretHash);
    if (secretHash === undefined || allowance === undefined) return null;
    if (allowance.left <= 0) return tooMany(this.#most, Math.max(1, allowance.wait));
    allowance.left--;
    this.#added.set(secretHash, (this.#added.get(secretHash) ?? 0) + 1);
    return null;
  }

  async write(tx: ServerTx, now: number): Promise<void> {
    await addAmounts(
      tx,
      now,
      [...this.#added].map(([hash, count]) => [this.#bucketOf(hash), count] as const),
    );
  }

  #bucketOf(secretHash: string): Bucket {
    return { scope: "new hosts", key: secretHash, most: this.#most, span: RATE_SPAN };
  }
}

const tooMany = (most: number, wait: number): Refusal => ({
  refused: "new hosts",
  reason: `${most} new hosts have enrolled with this secret within an hour, which is the limit (--enroll-max-new-hosts)`,
  wait,
});

/**
 * Counts a certificate, or what leads to one, that somebody with an enroll secret gets before the machine is known. As many
 * as new hosts; 429 beyond it.
 */
export const countForSecret = (
  { settings, ...home }: LimitedBy & Pick<Services, "settings">,
  scope: "device identities" | "enrollment profiles" | "enrollment tokens",
  secretHash: string,
): Promise<void> =>
  countAttempt(home, [
    { scope: `${scope} of secrets`, key: secretHash, most: settings.enroll_max_new_hosts, span: RATE_SPAN },
  ]);
