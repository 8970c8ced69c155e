import type { AnyEndpoint } from "../../../../api/endpoint.ts";
import type { Metrics } from "../logging/metrics.ts";

/** Counts an answered request. `started` is by `performance.now()`. */
export function count(
  { metrics }: { readonly metrics: Metrics },
  { method, path }: Pick<AnyEndpoint, "method" | "path">,
  status: number,
  started: number,
): void {
  metrics.requests.inc({ method, route: path, status: String(status) });
  metrics.requestSeconds.observe({ method, route: path }, (performance.now() - started) / 1000);
}
