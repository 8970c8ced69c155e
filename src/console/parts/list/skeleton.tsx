import type { ReactElement } from "react";

const ROWS = 12;

/** Rows of the final height, so that nothing moves when the data arrive. */
export const Skeleton = ({ columns }: { readonly columns: number }): ReactElement => (
  <div className="skeleton" aria-hidden="true">
    {Array.from({ length: ROWS }, (_, row) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: all rows are alike
      <div key={row} style={{ ["--columns" as string]: columns }} />
    ))}
  </div>
);
