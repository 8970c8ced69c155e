import { useCallback, useMemo, useRef, useState } from "react";
import type { Selection } from "./definition.ts";

type Key = string | number;

interface SelectionState<Row> {
  readonly selection: Selection<Row>;
  readonly has: (key: Key) => boolean;
  /** `extends`: everything from the row that was selected last to this one, as with the Shift key. */
  readonly toggle: (row: Row, options: { readonly extends: boolean; readonly page: readonly Row[] }) => void;
  readonly togglePage: (page: readonly Row[], on: boolean) => void;
  readonly selectMatching: (count: number, filters: Readonly<Record<string, string>>) => void;
  readonly clear: () => void;
}

/** The rows that are selected. They stay selected on other pages of the list, and while rows change. */
export function useSelection<Row>(keyOf: (row: Row) => Key, page: readonly Row[]): SelectionState<Row> {
  const [rows, setRows] = useState<ReadonlyMap<Key, Row>>(new Map());
  const [matching, setMatching] = useState<Extract<Selection<Row>, { kind: "matching" }> | null>(null);
  const last = useRef<Key | null>(null);
  const clear = useCallback(() => {
    setRows(new Map());
    setMatching(null);
  }, []);
  const selection = useMemo<Selection<Row>>(() => {
    // What is on screen is newer than what was selected.
    const newer = new Map(page.map((row) => [keyOf(row), row]));
    return matching ?? { kind: "rows", rows: [...rows].map(([key, row]) => newer.get(key) ?? row) };
  }, [matching, rows, page, keyOf]);
  return {
    selection,
    has: (key) => matching !== null || rows.has(key),
    toggle(row, { extends: isRange, page: shown }) {
      const key = keyOf(row);
      const next = new Map(matching === null ? rows : shown.map((other) => [keyOf(other), other]));
      const on = !next.has(key);
      const from = isRange ? shown.findIndex((other) => keyOf(other) === last.current) : -1;
      const to = shown.findIndex((other) => keyOf(other) === key);
      const changed = from < 0 ? [row] : shown.slice(Math.min(from, to), Math.max(from, to) + 1);
      for (const other of changed)
        if (on) next.set(keyOf(other), other);
        else next.delete(keyOf(other));
      last.current = key;
      setMatching(null);
      setRows(next);
    },
    togglePage(shown, on) {
      const next = new Map(matching === null ? rows : []);
      for (const row of shown)
        if (on) next.set(keyOf(row), row);
        else next.delete(keyOf(row));
      setMatching(null);
      setRows(next);
    },
    selectMatching: (count, filters) => setMatching({ kind: "matching", count, filters }),
    clear,
  };
}
