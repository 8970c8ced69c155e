import type { ReactElement } from "react";
import { counted, formatted } from "../counted.ts";

export interface Slice {
  readonly name: string;
  readonly count: number;
  /** The class of the colour, in style.css. */
  readonly tone: "good" | "note" | "bad" | "quiet";
}

interface RingProps {
  readonly thing: string;
  readonly things?: string;
  readonly slices: readonly Slice[];
}

/** A ring of shares, named with its figures. A table beside it has the same figures. */
export function Ring({ thing, things = `${thing}s`, slices }: RingProps): ReactElement {
  const total = slices.reduce((sum, { count }) => sum + count, 0);
  const label = `${counted(total, thing, things)}: ${slices.map(({ name, count }) => `${count} ${name}`).join(", ")}`;
  const shares = slices
    .filter(({ count }) => count > 0)
    .map((slice) => ({ ...slice, share: (slice.count / total) * 100 }));
  return (
    <svg className="ring" viewBox="0 0 42 42" role="img" aria-label={label}>
      <circle className="back" cx="21" cy="21" r="15.9155" />
      {shares.map(({ name, tone, share }, at) => (
        // A slice is a dash of a circle with circumference 100, turned by the slices before it.
        <circle
          key={name}
          className={tone}
          cx="21"
          cy="21"
          r="15.9155"
          strokeDasharray={`${share} ${100 - share}`}
          strokeDashoffset={25 - shares.slice(0, at).reduce((sum, other) => sum + other.share, 0)}
        />
      ))}
      <text x="21" y="22.5">
        {short(total)}
      </text>
      <text className="unit" x="21" y="28">
        {total === 1 ? thing : things}
      </text>
    </svg>
  );
}

const short = (count: number): string =>
  count < 10_000
    ? formatted(count)
    : count < 1_000_000
      ? `${Math.round(count / 1000)}k`
      : `${(count / 1e6).toFixed(1)}M`;
