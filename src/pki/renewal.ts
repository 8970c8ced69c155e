const DAY_MS = 24 * 60 * 60 * 1000;
const BEFORE_END_MS = 30 * DAY_MS;

/** When a certificate with this validity (milliseconds) is replaced: 30 days before its end, or after half of a short life. */
export const renewalTime = (from: number, to: number): number => to - Math.min(BEFORE_END_MS, (to - from) / 2);
