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

  async check({ bucket, prefix, client, where, soon, request, putWhole }: Bucket): Promise<void> {
    try {
      const list = { Bucket: bucket, Prefix: prefix, MaxKeys: 1 };
      await request(client.send(new ListObjectsV2Command(list), soon()));
      // A name of its own: several servers may check at the same time.
      const probe = `${PROBE}-${randomUUID()}`;
      await putWhole(probe, Buffer.from("svc checks that it can store files\n"));
      await request(client.send(new DeleteObjectCommand(where(probe)), soon()));
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
