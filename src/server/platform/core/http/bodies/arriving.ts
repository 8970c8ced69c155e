// The body of a Node request. The same bytes as a web stream would be copied once, and cost several promises a chunk.
import type { Readable } from "node:stream";
import type { ByteSource } from "../body.ts";

/** More than this is not read ahead of a slow reader. */
const AHEAD = 1024 * 1024;

/** The chunks as they arrive; can be read once. Whoever stops reading leaves the rest to `closeWhenUnread`. */
export const arriving = (req: Readable): ByteSource => ({ [Symbol.asyncIterator]: () => new Arriving(req) });

type Next = IteratorResult<Uint8Array, undefined>;
interface Waiting {
  readonly resolve: (next: Next) => void;
  readonly reject: (error: unknown) => void;
}
const END: Next = { done: true, value: undefined };

class Arriving implements AsyncIterator<Uint8Array, undefined> {
  readonly #req: Readable;
  readonly #chunks: Uint8Array[] = [];
  #bytes = 0;
  #isPaused = false;
  #end: { readonly error: unknown } | null = null;
  #waiting: Waiting | null = null;

  constructor(req: Readable) {
    this.#req = req;
    if (req.readableEnded) this.#ended(null);
    else if (req.destroyed) this.#closed();
    else req.on("data", this.#data).on("end", this.#finished).on("error", this.#failed).on("close", this.#closed);
  }

  next(): Promise<Next> {
    const chunk = this.#chunks.shift();
    if (chunk !== undefined) {
      this.#bytes -= chunk.byteLength;
      if (this.#isPaused && this.#bytes < AHEAD / 2) {
        this.#isPaused = false;
        this.#req.resume();
      }
      return Promise.resolve({ done: false, value: chunk });
    }
    if (this.#end !== null)
      return this.#end.error === null ? Promise.resolve(END) : Promise.reject(this.#end.error as Error);
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
    });
  }

  return(): Promise<Next> {
    this.#req.pause();
    this.#ended(null);
    this.#chunks.length = 0;
    return Promise.resolve(END);
  }

  readonly #data = (chunk: Uint8Array): void => {
    const waiting = this.#waiting;
    if (waiting !== null) {
      this.#waiting = null;
      waiting.resolve({ done: false, value: chunk });
      return;
    }
    this.#chunks.push(chunk);
    this.#bytes += chunk.byteLength;
    if (this.#bytes < AHEAD || this.#isPaused) return;
    this.#isPaused = true;
    this.#req.pause();
  };

  readonly #finished = (): void => this.#ended(null);
  readonly #failed = (error: unknown): void => this.#ended(error);
  readonly #closed = (): void => this.#ended(new Error("the connection was closed before the whole body arrived"));

  #ended(error: unknown): void {
    if (this.#end !== null) return;
    this.#end = { error };
    const req = this.#req;
    req.off("data", this.#data).off("end", this.#finished).off("error", this.#failed).off("close", this.#closed);
    const waiting = this.#waiting;
    this.#waiting = null;
    if (error === null) waiting?.resolve(END);
    else waiting?.reject(error);
  }
}
