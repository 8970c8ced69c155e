const units: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/**
 * Parses `500ms`, `25s`, `10m`, `24h`, `5d` and combinations (`1h30m`, `24h0m0s`); plain numbers are seconds. Returns
 * milliseconds, or null if the text is not a duration.
 */
export function readDuration(text: string): number | null {
  const trimmed = text.trim();
  if (/^\d+(?:\.\d+)?$/.test(trimmed)) return Number(trimmed) * 1000;
  if (trimmed.length > 50 || !/^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/.test(trimmed)) return null;
  return [...trimmed.matchAll(/([\d.]+)(ms|s|m|h|d)/g)].reduce(
    (sum, [, n, unit]) => sum + Number(n) * units[unit!]!,
    0,
  );
}
