// This server's readers of live queries.

interface Reader {
  readonly keepsOpen: boolean;
}

export class Readers {
  readonly #byQuery = new Map<number, Set<Reader>>();
  #openCount = 0;

  /** Number of readers that keep queries open. */
  get openCount(): number {
    return this.#openCount;
  }

  /** Registers a reader of the query until the returned function is called. */
  add(id: number, keepsOpen: boolean): () => void {
    const reader = { keepsOpen };
    const readers = this.#byQuery.get(id) ?? new Set();
    this.#byQuery.set(id, readers.add(reader));
    if (keepsOpen) this.#openCount++;
    return () => {
      if (readers.delete(reader) && keepsOpen) this.#openCount--;
      if (readers.size === 0 && this.#byQuery.get(id) === readers) this.#byQuery.delete(id);
    };
  }

  has(id: number): boolean {
    return this.#byQuery.has(id);
  }

  /** Whether a reader keeps the query open for hosts that come online. */
  keepOpen(id: number): boolean {
    return [...(this.#byQuery.get(id) ?? [])].some(({ keepsOpen }) => keepsOpen);
  }

  ids(): number[] {
    return [...this.#byQuery.keys()];
  }
}
