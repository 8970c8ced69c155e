const STEPS: readonly [seconds: number, singular: string, plural: string][] = [
  [86_400, "a day", "days"],
  [3600, "an hour", "hours"],
  [60, "a minute", "minutes"],
];

/** A duration in seconds, for people: `45 s`, and from two minutes on rounded, such as `about an hour`. */
export function durationText(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  for (const [size, singular, plural] of STEPS) {
    const count = Math.round(seconds / size);
    if (count >= 1) return `about ${count === 1 ? singular : `${count} ${plural}`}`;
  }
  return `${seconds} s`;
}
