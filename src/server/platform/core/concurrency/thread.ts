// Pure work in a thread of its own: its heap is another one, so that neither it nor its garbage collection delays
// requests. The thread reads files and computes; the store belongs to the server's own thread.
import { Worker } from "node:worker_threads";
import type { ThreadCall, ThreadFailure, ThreadMethods, ThreadReply } from "./thread-messages.ts";
import { threadUrl } from "./thread-url.ts";

/** Megabytes of objects that survive in a thread; with more of them, it is ended, and its calls fail. */
const HEAP_MAX_MB = 1024;

/** A call to a thread has failed. */
export class ThreadError extends Error {
  /** The name of the class of the thread's error; empty: the thread has ended. */
  readonly kind: string;

  constructor({ kind, message, stack }: ThreadFailure) {
    super(message);
    this.kind = kind;
    if (stack !== undefined) this.stack = stack;
  }
}

export interface Thread<M extends ThreadMethods> {
  /** Rejects with `ThreadError` if the function throws, or the thread ends before it has returned. */
  call<N extends keyof M & string>(method: N, ...args: Parameters<M[N]>): Promise<Awaited<ReturnType<M[N]>>>;
  /** Ends the thread, whatever it does. Its calls are rejected. */
  end(): Promise<void>;
}

export interface ThreadOptions {
  /** Ends the thread when it aborts; calls are rejected with its reason. */
  readonly signal?: AbortSignal;
  readonly heapMaxMb?: number;
}

interface Waiting {
  readonly resolve: (result: never) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * A thread with the functions of a module `*.thread.ts` (`name`: its path below src/server, without extension). It starts
 * with the first call, and again with the next one after it has ended by itself, without anything that it remembered. It
 * keeps the process running during calls only.
 */
export function startThread<M extends ThreadMethods>(name: string, options: ThreadOptions = {}): Thread<M> {
  const { signal, heapMaxMb = HEAP_MAX_MB } = options;
  const waiting = new Map<number, Waiting>();
  let worker: Worker | null = null;
  let calls = 0;
  let isEnded = false;

  function failAll(error: unknown): void {
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
  }

  function start(): Worker {
    const started = new Worker(threadUrl(name), {
      name,
      resourceLimits: { maxOldGenerationSizeMb: heapMaxMb },
    });
    started.on("message", (reply: ThreadReply) => {
      const caller = waiting.get(reply.id);
      waiting.delete(reply.id);
      if (waiting.size === 0) started.unref();
      if ("failure" in reply) caller?.reject(new ThreadError(reply.failure));
      else caller?.resolve(reply.result as never);
    });
    let cause: Error | null = null;
    started.on("error", (error) => {
      cause = error;
    });
    started.on("exit", (code) => {
      if (worker !== started) return;
      worker = null;
      const message = `the thread ${name} has ended: ${cause?.message ?? `exit code ${code}`}`;
      failAll(new ThreadError({ kind: "", message, stack: cause?.stack }));
    });
    return started;
  }

  async function end(reason: unknown): Promise<void> {
    isEnded = true;
    signal?.removeEventListener("abort", abort);
    const running = worker;
    worker = null;
    failAll(reason);
    await running?.terminate();
  }
  const abort = () => void end(signal?.reason);
  signal?.addEventListener("abort", abort, { once: true });

  return {
    call: (method, ...args) =>
      new Promise((resolve, reject) => {
        signal?.throwIfAborted();
        if (isEnded) throw endedError(name);
        worker ??= start();
        const id = ++calls;
        worker.postMessage({ id, method, args } satisfies ThreadCall);
        worker.ref();
        waiting.set(id, { resolve, reject });
      }),
    end: () => end(endedError(name)),
  };
}

const endedError = (name: string): ThreadError =>
  new ThreadError({ kind: "", message: `the thread ${name} was ended`, stack: undefined });
