/** The columns of rows that may differ, each once, in the order in which they come. */
export const columnsOf = (rows: readonly Record<string, unknown>[]): string[] => [
  ...new Set(rows.flatMap((row) => Object.keys(row))),
];

export function tellClipped(clipped: boolean, note: (text: string) => void): void {
  if (clipped) note("the report is full: hosts that answer for the first time are not in it");
}
