// Requests of endpoints, for every transport.
import type { AnyEndpoint } from "../api/endpoint.ts";
import { fullPath, isPathStep } from "../api/paths.ts";
import { NotInPath, Unreachable } from "./errors.ts";

/** The path with its parameters. Throws `NotInPath` for parameters that would lead to another path. */
export function pathOf(
  endpoint: Pick<AnyEndpoint, "path" | "root" | "exact">,
  params: Record<string, unknown>,
): string {
  return fullPath(endpoint).replace(/:([a-z_]+)/g, (_, name: string) => {
    const value = String(params[name]);
    if (value === "" || isPathStep(value)) throw new NotInPath(name, value);
    return encodeURIComponent(value);
  });
}

export function queryString(query: Record<string, unknown> | undefined): string {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query ?? {})) {
    if (value === undefined || value === null) continue;
    for (const element of Array.isArray(value) ? value : [value]) search.append(key, String(element));
  }
  const text = search.toString();
  return text === "" ? "" : `?${text}`;
}

/** Throws `Unreachable` if the text is not JSON, because whatever replied is not an svc server. */
export function parseReply(url: string, text: string): unknown {
  if (text === "") return {};
  try {
    return JSON.parse(text);
  } catch (error) {
    const { origin } = new URL(url);
    throw new Unreachable(url, `the reply of ${origin} is not JSON: it is not an svc server`, "NOT_JSON", error);
  }
}
