import type { License } from "../../api/settings/app-config.ts";

export const hasExpired = ({ tier, expiration }: License, now: Date): boolean =>
  tier === "premium" && Date.parse(expiration) < now.getTime();

/**
 * The base64 of a PEM key on one line, which every format of environment file supports. The server accepts both
 * forms.
 */
export const oneLine = (pem: string): string => pem.replace(/-----[^-]+-----|\s/g, "");
