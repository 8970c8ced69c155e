import { usage } from "../../errors.ts";
import { durationMs } from "../../output/text.ts";

const flags = ["start-created-at", "end-created-at"] as const;

/** The times of the filters of activities: how long ago (`7d`, `24h`) becomes a time; others are checked. */
export function activityTimes(flagValues: Readonly<Record<string, unknown>>, now: Date): Record<string, unknown> {
  const times = { ...flagValues };
  for (const flag of flags) {
    const text = flagValues[flag];
    if (typeof text !== "string" || text === "") continue;
    if (/^\d+(\.\d+)?(ms|s|m|h|d)$/.test(text)) {
      const at = now.getTime() - durationMs(text, `--${flag}`);
      if (!(at > 0)) throw usage(`--${flag}: ${text} is too long ago`);
      times[flag] = new Date(at).toISOString();
    } else if (!/^\d{4}-\d\d-\d\d/.test(text.trim()) || Number.isNaN(Date.parse(text.trim().slice(0, 10))))
      throw usage(
        `--${flag}: ${text} is not a time`,
        "Formats: 2026-01-31, 2026-01-31T22:00:00Z, or how long ago: 24h, 7d.",
      );
  }
  return times;
}
