const units = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
] as const;

/** A number of seconds in the largest unit that divides it: "1 hour", "90 seconds". */
export function duration(seconds: number): string {
  const [unit, size] =
    units.find(([, length]) => seconds >= length && seconds % length === 0) ?? (["second", 1] as const);
  const count = seconds / size;
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}
