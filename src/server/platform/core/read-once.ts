/** Values of other tables by id, each read once for all parts of a reply. An id without a value is read once, too. */
export class ReadOnce<V> {
  readonly #values = new Map<number, V>();
  readonly #requested = new Set<number>();
  readonly #read: (ids: number[]) => Promise<Iterable<readonly [id: number, value: V]>>;

  constructor(read: (ids: number[]) => Promise<Iterable<readonly [id: number, value: V]>>) {
    this.#read = read;
  }

  /** Reads what is missing. The map may have more than these ids. */
  async of(ids: Iterable<number | null | undefined>): Promise<ReadonlyMap<number, V>> {
    const missing = new Set<number>();
    for (const id of ids) if (id != null && !this.#requested.has(id)) missing.add(id);
    if (missing.size > 0) {
      for (const [id, value] of await this.#read([...missing])) this.#values.set(id, value);
      for (const id of missing) this.#requested.add(id);
    }
    return this.#values;
  }
}
