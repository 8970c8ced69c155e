// Dry runs: the server does all the work of a request, rolls it back, and replies as it would have replied.
import type { AnyEndpoint } from "./endpoint.ts";

/** Request header for a dry run. Replies to dry runs have it too. */
export const DRY_RUN = "Dry-Run";
/** Reply header: the checks that only the real request makes, separated by semicolons. */
export const DRY_RUN_UNCHECKED = "Dry-Run-Unchecked";
/**
 * Header of every reply: features that older servers lack. They would execute a dry run for real, so clients check
 * this first.
 */
export const FEATURES = "X-Svc-Features";
export const DRY_RUN_FEATURE = "dry-run";

/**
 * Why sign-in and similar requests have no dry run: a dry run stores nothing, so it would not count failed attempts.
 */
export const PROVES = "passwords and links could be guessed without counting the attempts";

const changes = ({ method }: AnyEndpoint): boolean => method !== "GET" && method !== "HEAD";

/**
 * Whether the endpoint supports dry runs, which only endpoints that change data need. A text is the reason why it
 * does not.
 */
export function dryRunOf(endpoint: AnyEndpoint): boolean | string {
  return endpoint.dryRun ?? changes(endpoint);
}
