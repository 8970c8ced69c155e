// Whether the bucket works: found out by a small object, at times and after failures.
import { randomUUID } from "node:crypto";
import { DeleteObjectCommand, ListObjectsV2Command } from "@aws-sdk/client-s3";
import type { Bucket } from "./bucket.ts";

const PROBE = ".svc-check";

export class BucketHealth {
  #problem: string | null = null;
  #at = performance.now();
  #isChecking = false;

  /** The next call of `problem` finds out whether a failure lasts. */
  doubt(): void {
    this.#at = Number.NEGATIVE_INFINITY;
  }

  async check(bucket: Bucket): Promise<void> {
    const { client } = bucket;
    try {
      const list = { Bucket: bucket.name, Prefix: bucket.prefix, MaxKeys: 1 };
      await bucket.request(client.send(new ListObjectsV2Command(list), bucket.soon()));
      // A name of its own: several servers may check at the same time.
      const probe = `${PROBE}-${randomUUID()}`;
      await bucket.putWhole(probe, Buffer.from("svc checks that it can store files\n"));
      await bucket.request(client.send(new DeleteObjectCommand(bucket.where(probe)), bucket.soon()));
      this.#problem = null;
    } catch (error) {
      this.#problem = (error as Error).message;
      throw error;
    } finally {
      this.#at = performance.now();
    }
  }

  /** What the last check has found; null: nothing. Begins another one when it is old. */
  problem(bucket: Bucket): string | null {
    const age = performance.now() - this.#at;
    const { checkMs, recheckMs } = bucket.limits;
    if (!this.#isChecking && age > (this.#problem === null ? checkMs : recheckMs)) {
      this.#isChecking = true;
      void this.check(bucket)
        .catch(() => undefined)
        .finally(() => {
          this.#isChecking = false;
        });
    }
    return this.#problem;
  }
}
