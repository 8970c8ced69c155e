import type { License } from "../api/app-config.ts";

export const hasExpired = ({ tier, expiration }: License, now: Date): boolean =>
  tier === "premium" && Date.parse(expiration) < now.getTime();
