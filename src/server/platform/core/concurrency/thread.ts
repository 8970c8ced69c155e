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
export class Thread<M extends ThreadMethods> {
  readonly #name: string;
  readonly #heapMaxMb: number;
  readonly #signal: AbortSignal | undefined;
  readonly #onAbort = () => void this.#end(this.#signal?.reason);
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | null = null;
  #calls = 0;
  #isEnded = false;

  constructor(name: string, { signal, heapMaxMb = HEAP_MAX_MB }: ThreadOptions = {}) {
    this.#name = name;
    this.#heapMaxMb = heapMaxMb;
    this.#signal = signal;
    signal?.addEventListener("abort", this.#onAbort, { once: true });
  }

  /** Rejects with `ThreadError` if the function throws, or the thread ends before it has returned. */
  call<N extends keyof M & string>(method: N, ...args: Parameters<M[N]>): Promise<Awaited<ReturnType<M[N]>>> {
    return new Promise((resolve, reject) => {
      this.#signal?.throwIfAborted();
      if (this.#isEnded) throw endedError(this.#name);
      this.#worker ??= this.#start();
      const id = ++this.#calls;
      this.#worker.postMessage({ id, method, args } satisfies ThreadCall);
      this.#worker.ref();
      this.#waiting.set(id, { resolve, reject });
    });
  }

  /** Ends the thread, whatever it does. Its calls are rejected. */
  end(): Promise<void> {
    return this.#end(endedError(this.#name));
  }

  #start(): Worker {
    const name = this.#name;
    const worker = new Worker(threadUrl(name), {
      name,
      resourceLimits: { maxOldGenerationSizeMb: this.#heapMaxMb },
    });
    worker.on("message", (reply: ThreadReply) => this.#settle(worker, reply));
    let cause: Error | null = null;
    worker.on("error", (error) => {
      cause = error;
    });
    worker.on("exit", (code) => {
      if (this.#worker !== worker) return;
      this.#worker = null;
      const message = `the thread ${name} has ended: ${cause?.message ?? `exit code ${code}`}`;
      this.#rejectAll(new ThreadError({ kind: "", message, stack: cause?.stack }));
    });
    return worker;
  }

  #settle(worker: Worker, reply: ThreadReply): void {
    const caller = this.#waiting.get(reply.id);
    this.#waiting.delete(reply.id);
    if (this.#waiting.size === 0) worker.unref();
    if ("failure" in reply) caller?.reject(new ThreadError(reply.failure));
    else caller?.resolve(reply.result as never);
  }

  async #end(reason: unknown): Promise<void> {
    this.#isEnded = true;
    this.#signal?.removeEventListener("abort", this.#onAbort);
    const worker = this.#worker;
    this.#worker = null;
    this.#rejectAll(reason);
    await worker?.terminate();
  }

  #rejectAll(error: unknown): void {
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}

const endedError = (name: string): ThreadError =>
  new ThreadError({ kind: "", message: `the thread ${name} was ended`, stack: undefined });
