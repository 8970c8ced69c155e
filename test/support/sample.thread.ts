// A thread for test/platform/core/threads.test.ts.
import { threadId } from "node:worker_threads";
import { handedOver, serveThread } from "../../src/server/platform/core/concurrency/thread-side.ts";

export class SampleRefused extends Error {}

let calls = 0;
const methods = {
  double: (n: number) => 2 * n,
  async count(): Promise<number> {
    await Promise.resolve();
    return ++calls;
  },
  where: () => threadId,
  refuse(): never {
    throw new SampleRefused("no such thing");
  },
  throwText(): never {
    throw "a text";
  },
  bytes: (size: number): Uint8Array => new Uint8Array(size).fill(7),
  /** Never returns, and lets nothing else run. */
  spin(): void {
    for (;;);
  },
  exit(): void {
    process.exit(3);
  },
  /** Keeps all that it makes. */
  grow(): number {
    const kept: unknown[] = [];
    for (;;) kept.push({ kept: [kept.length] });
  },
};

export type SampleThread = typeof methods;

serveThread({ methods, transfers: (result) => (result instanceof Uint8Array ? handedOver(result) : []) });
