// The side of a thread (thread.ts): a module `*.thread.ts` calls `serveThread` with its functions.
import { readlinkSync } from "node:fs";
import { setPriority } from "node:os";
import { parentPort, type Transferable } from "node:worker_threads";
import type { ThreadCall, ThreadFailure, ThreadMethods, ThreadReply } from "./thread-messages.ts";

/** Between 0 (as the server's own thread) and 19. On a busy processor, 5 is a third of the time of others. */
const NICENESS = 5;

/** The memory behind these bytes is handed over with a result instead of being copied; it must belong to them alone. */
export const handedOver = (bytes: Uint8Array): Transferable[] => [bytes.buffer as ArrayBuffer];

interface ThreadSide<M extends ThreadMethods> {
  readonly methods: M;
  /** The parts of a result that are handed over instead of being copied. */
  readonly transfers?: (result: unknown) => Transferable[];
}

/** Answers the calls of the thread's owner. Calls may overlap if the functions are asynchronous. */
export function serveThread<M extends ThreadMethods>({ methods, transfers }: ThreadSide<M>): void {
  const port = parentPort;
  if (port === null) throw new Error("this module is the start of a thread");
  stepBack();
  port.on("message", async ({ id, method, args }: ThreadCall) => {
    try {
      const result = await methods[method]!(...(args as never[]));
      port.postMessage({ id, result } satisfies ThreadReply, transfers?.(result) ?? []);
    } catch (error) {
      port.postMessage({ id, failure: failureOf(error) } satisfies ThreadReply);
    }
  });
}

const failureOf = (error: unknown): ThreadFailure =>
  error instanceof Error
    ? { kind: error.constructor.name, message: error.message, stack: error.stack }
    : { kind: "", message: String(error), stack: undefined };

/** Requests come first where there are fewer processors than threads. On Linux, a priority can be that of a single thread. */
function stepBack(): void {
  if (process.platform !== "linux") return;
  try {
    setPriority(Number(readlinkSync("/proc/thread-self").split("/").at(-1)), NICENESS);
  } catch {
    // Without /proc, the thread has the priority of the process.
  }
}
