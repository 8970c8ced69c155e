import type { Value } from "./values.ts";

/** Positive ids below a bound, one byte each: several times as fast as a `Set` of as many ids. */
export class IdSet implements Iterable<number> {
  readonly #bytes: Uint8Array;

  constructor(bound: number) {
    this.#bytes = new Uint8Array(bound);
  }

  add(id: number): void {
    this.#bytes[id] = 1;
  }

  has(value: Value): boolean {
    return typeof value === "number" && this.#bytes[value] === 1;
  }

  *[Symbol.iterator](): Generator<number> {
    for (let id = 0; id < this.#bytes.length; id++) if (this.#bytes[id] === 1) yield id;
  }
}
