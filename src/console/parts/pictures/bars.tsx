import type { ReactElement, ReactNode } from "react";
import { formatted } from "../counted.ts";

export interface Bar {
  readonly key: string | number;
  readonly name: ReactNode;
  readonly count: number;
}

interface BarsProps {
  readonly label: string;
  readonly unit: string;
  readonly bars: readonly Bar[];
  /** What the full width stands for; default: the largest. */
  readonly total?: number;
  readonly empty: string;
}

/** Names with their numbers, as a table whose rows have a bar. */
export function Bars({ label, unit, bars, total, empty }: BarsProps): ReactElement {
  if (bars.length === 0) return <p className="quiet">{empty}</p>;
  const full = Math.max(1, total ?? Math.max(...bars.map(({ count }) => count)));
  return (
    <table className="bars" aria-label={label}>
      <thead className="hidden">
        <tr>
          <th scope="col">Name</th>
          <th scope="col">Share</th>
          <th scope="col">{unit}</th>
        </tr>
      </thead>
      <tbody>
        {bars.map(({ key, name, count }) => (
          <tr key={key}>
            <th scope="row">{name}</th>
            <td>
              <svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
                <rect className="all" width="100" height="6" rx="1" />
                <rect className="part" width={(count / full) * 100} height="6" rx="1" />
              </svg>
            </td>
            <td className="number">{formatted(count)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
