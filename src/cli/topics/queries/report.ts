/** The columns of rows whose keys differ, without duplicates, in order of appearance. */
export const columnsOf = (rows: readonly Record<string, unknown>[]): string[] => [
  ...new Set(rows.flatMap((row) => Object.keys(row))),
];

export function noteClipped(clipped: boolean, note: (text: string) => void): void {
  if (clipped) note("the report is full: results of further hosts are not stored");
}
