// The import of vulnerability data, as the commands show it.
import type { VulnerabilityStatus } from "../../../api/software/vulnerabilities.ts";

/** The job that imports and compares. */
export const IMPORT_JOB = "vulnerabilities";

/** While the server has no feeds. What it imported before is still compared with software. */
export const NOTHING_IMPORTED =
  "nothing is imported: SVC_VULNERABILITY_DATA_URL is not set on the server (docs/vulnerabilities.md)";

const MB = 1_000_000;

/** What the server is doing at the moment, in one line. */
export function progressOf({ feeds, matching }: VulnerabilityStatus): string {
  const done = feeds.filter(({ state }) => state !== "waiting" && state !== "importing").length;
  const running = feeds.find(({ state }) => state === "importing");
  if (running !== undefined) {
    const { name, bytes_read, bytes_total } = running;
    const of = bytes_total === 0 ? "" : ` of ${(bytes_total / MB).toFixed(1)}`;
    return `importing ${name}: ${(bytes_read / MB).toFixed(1)}${of} MB (feed ${done + 1} of ${feeds.length})`;
  }
  if (matching !== null && matching.finished_at === null)
    return `comparing software: ${matching.done} of ${matching.total} versions`;
  return "checking the feeds";
}
