// This server's readers of live queries.

interface Readers {
  /** Registers a reader of the query until the returned function is called. */
  add(id: number, keepsOpen: boolean): () => void;
  has(id: number): boolean;
  /** Whether a reader keeps the query open for hosts that come online. */
  keepOpen(id: number): boolean;
  ids(): number[];
  /** Number of readers that keep queries open. */
  open(): number;
}

export function createReaders(): Readers {
  const byQuery = new Map<number, Set<{ readonly keepsOpen: boolean }>>();
  let open = 0;
  return {
    add(id, keepsOpen) {
      const reader = { keepsOpen };
      const readers = byQuery.get(id) ?? new Set();
      byQuery.set(id, readers.add(reader));
      if (keepsOpen) open++;
      return () => {
        if (readers.delete(reader) && keepsOpen) open--;
        if (readers.size === 0 && byQuery.get(id) === readers) byQuery.delete(id);
      };
    },
    has: (id) => byQuery.has(id),
    keepOpen: (id) => [...(byQuery.get(id) ?? [])].some(({ keepsOpen }) => keepsOpen),
    ids: () => [...byQuery.keys()],
    open: () => open,
  };
}
