const units: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `500ms`, `25s`, `10m`, `24h`, `5d`; bare numbers are seconds. Gives milliseconds, or null for what is no duration. */
export function readDuration(text: string): number | null {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)?$/.exec(text.trim());
  return match ? Number(match[1]) * units[match[2] ?? "s"]! : null;
}
