// The proxy for requests to vendors' services, as in the usual variables HTTPS_PROXY and NO_PROXY.
import type { Settings } from "../settings/settings.ts";

/** The proxy for requests to this URL; null: none. */
export function proxyFor({ https_proxy, no_proxy }: Pick<Settings, "https_proxy" | "no_proxy">, url: URL): URL | null {
  if (https_proxy === undefined || url.protocol !== "https:") return null;
  const host = url.hostname.toLowerCase();
  const isExcepted = no_proxy.some((entry) => {
    const [name, port] = entry
      .toLowerCase()
      .replace(/^\*?\./, "")
      .split(/:(?=\d+$)/) as [string, string?];
    if (port !== undefined && port !== (url.port || "443")) return false;
    return name === "*" || host === name || host.endsWith(`.${name}`);
  });
  return isExcepted ? null : new URL(https_proxy);
}
