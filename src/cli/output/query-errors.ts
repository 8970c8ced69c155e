// What agents have reported about a policy, a label or a query that they could not run.
import type { Column } from "./table.ts";

interface WithErrors {
  readonly error_host_count: number;
}

/** Columns for the errors; none if there are no errors, as is usual. */
export const errorColumns = (rows: readonly WithErrors[]): Column[] =>
  rows.every(({ error_host_count }) => error_host_count === 0)
    ? []
    : [
        { key: "error_host_count", header: "errors" },
        { key: "error_message", header: "error" },
      ];
