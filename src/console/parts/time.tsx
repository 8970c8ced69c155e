import { type ReactElement, useEffect, useState } from "react";
import { settings, useSettings } from "../settings.ts";

const units: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ["year", 31_536_000],
  ["month", 2_592_000],
  ["week", 604_800],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
const parts: Intl.DateTimeFormatOptions = {
  day: "numeric",
  month: "short",
  year: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  timeZoneName: "short",
};
const inBrowserZone = new Intl.DateTimeFormat("en-GB", parts);
const inUtc = new Intl.DateTimeFormat("en-GB", { ...parts, timeZone: "UTC" });

/** The time with its zone: as the user has set it. */
export const exactTime = (time: string | number): string =>
  (settings.get().zone === "utc" ? inUtc : inBrowserZone).format(new Date(time));

function relativeTime(time: string, now: number): string {
  const seconds = Math.round((Date.parse(time) - now) / 1000);
  for (const [unit, size] of units)
    if (Math.abs(seconds) >= size) return relative.format(Math.trunc(seconds / size), unit);
  return Math.abs(seconds) < 10 ? "now" : relative.format(seconds, "second");
}

/** How long ago, with the exact time on hover, or the exact time if the user prefers it. `none` stands for a time that does not exist. */
export function Time({
  value,
  none = "never",
}: {
  readonly value: string | null | undefined;
  readonly none?: string;
}): ReactElement {
  const now = useNow();
  const { times } = useSettings();
  if (
    value === null ||
    value === undefined ||
    value === "" ||
    value.startsWith("0001-") ||
    value.startsWith("2000-01-01")
  )
    return <span className="quiet">{none}</span>;
  const isExact = times === "exact";
  return (
    <time dateTime={value} title={isExact ? relativeTime(value, now) : exactTime(value)}>
      {isExact ? exactTime(value) : relativeTime(value, now)}
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
