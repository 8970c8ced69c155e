// Checks settings that contain an address for outgoing requests: a blocked address is refused when it is set. Names
// are not resolved here, because they may resolve differently later; each request checks them (fetch.ts).
import { pathsOf } from "../../../../api/secret-fields.ts";
import type { FieldError } from "../errors.ts";
import type { Settings } from "../settings/settings.ts";
import { BlockedAddress, checkHost } from "./addresses.ts";

type Allow = Pick<Settings, "outbound_allow">;

/**
 * Why requests to this URL's host are blocked. Null if they are not, and for invalid URLs, which other rules refuse.
 */
export async function blockedUrl(allow: Allow, url: string): Promise<string | null> {
  return /^https?:\/\//i.test(url) && URL.canParse(url) ? blockedServer(allow, new URL(url).hostname) : null;
}

/**
 * The blocked URLs at these paths (`*` matches each member of a list or map). URLs that `before` already contains at
 * any of the paths are accepted; otherwise a change of an unrelated setting would fail.
 */
export async function blockedFields(
  allow: Allow,
  patterns: readonly string[],
  before: unknown,
  after: unknown,
): Promise<FieldError[]> {
  const unchanged = new Set(
    patterns.flatMap((pattern) => pathsOf(before, pattern)).map((path) => textAt(before, path)),
  );
  const errors: FieldError[] = [];
  for (const path of patterns.flatMap((pattern) => pathsOf(after, pattern))) {
    const url = textAt(after, path);
    const reason = unchanged.has(url) ? null : await blockedUrl(allow, url);
    if (reason !== null) errors.push({ name: path.join("."), reason });
  }
  return errors;
}

function textAt(value: unknown, path: readonly string[]): string {
  const text = path.reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], value);
  return typeof text === "string" ? text : "";
}

/**
 * Why connections to this address or name are blocked. Null if they are not, and for names that are checked when they
 * are resolved.
 */
export async function blockedServer(allow: Allow, hostname: string): Promise<string | null> {
  try {
    await checkHost(allow, { hostname });
    return null;
  } catch (error) {
    if (error instanceof BlockedAddress) return error.message;
    throw error;
  }
}
