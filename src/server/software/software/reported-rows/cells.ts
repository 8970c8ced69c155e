// Separates the cells of a row that differ from host to host from the rest of its text.

import { OPENED } from "./read.ts";

/** The cells that differ from host to host: where a version is installed, and when it was last opened. */
export interface HostCells {
  path: string;
  opened: string;
}
export type HostCell = keyof HostCells;

/** The text of a row without its own cells. */
export interface SeparatedCells {
  readonly text: string;
  /** The parts of the text between its own cells, which are in the order of `cells`. */
  readonly parts: readonly string[];
  readonly cells: readonly HostCell[];
  readonly hostCells: HostCells;
}

interface ColumnChoice {
  readonly hasPath: boolean;
  readonly hasOpened: boolean;
}

export const plainRow = (text: string): SeparatedCells => ({
  text,
  parts: [text],
  cells: [],
  hostCells: { path: "", opened: "" },
});

/** Separates a row's own cells from its text. */
export function separate(row: string, { hasPath, hasOpened }: ColumnChoice): SeparatedCells {
  const path = hasPath ? placeOf(row, "path") : null;
  const opened = hasOpened ? placeOf(row, OPENED) : null;
  if (path === null && opened === null) return plainRow(row);
  const hostCells: HostCells = { path: "", opened: "" };
  const places: [HostCell, Place][] = [];
  if (path !== null) places.push(["path", path]);
  if (opened !== null) places.push(["opened", opened]);
  places.sort(([, a], [, b]) => a.start - b.start);
  const parts: string[] = [];
  let at = 0;
  for (const [cell, { start, end }] of places) {
    parts.push(row.slice(at, start));
    hostCells[cell] = row.slice(start, end);
    at = end;
  }
  parts.push(row.slice(at));
  return { text: parts.join(""), parts, cells: places.map(([cell]) => cell), hostCells };
}

interface Place {
  readonly start: number;
  readonly end: number;
}

// Control characters are not allowed in JSON text, and escapes would have to be read.
export const UNUSUAL = /[\\\p{Cc}]/u;

/** Where the value of a cell is; null if it is not a plain text, or not there exactly once. */
function placeOf(row: string, name: string): Place | null {
  // In the text of another cell, the quotation marks would be escaped.
  const mark = `"${name}":"`;
  const start = row.indexOf(mark) + mark.length;
  if (start < mark.length) return null;
  const end = row.indexOf('"', start);
  if (end < 0 || UNUSUAL.test(row.slice(start, end)) || row.includes(`"${name}"`, end)) return null;
  return { start, end };
}
