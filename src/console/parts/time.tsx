import { type ReactElement, useEffect, useState } from "react";

const units: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ["year", 31_536_000],
  ["month", 2_592_000],
  ["week", 604_800],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
const exact = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" });

export function relativeTime(time: string, now: number): string {
  const seconds = Math.round((Date.parse(time) - now) / 1000);
  for (const [unit, size] of units)
    if (Math.abs(seconds) >= size) return relative.format(Math.trunc(seconds / size), unit);
  return Math.abs(seconds) < 10 ? "now" : relative.format(seconds, "second");
}

/** How long ago, with the exact time on hover and focus. `none` stands for a time that does not exist. */
export function Time({
  value,
  none = "never",
}: {
  readonly value: string | null | undefined;
  readonly none?: string;
}): ReactElement {
  const now = useNow();
  if (
    value === null ||
    value === undefined ||
    value === "" ||
    value.startsWith("0001-") ||
    value.startsWith("2000-01-01")
  )
    return <span className="quiet">{none}</span>;
  return (
    <time dateTime={value} title={exact.format(new Date(value))}>
      {relativeTime(value, now)}
    </time>
  );
}

const REFRESH_MS = 30_000;

/** The time in milliseconds, renewed every half minute. */
export function useNow(): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), REFRESH_MS);
    return () => clearInterval(timer);
  }, []);
  return now;
}
