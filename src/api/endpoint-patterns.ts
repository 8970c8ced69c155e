// Patterns that name endpoints, for the limits of API tokens and the command line: `GET /hosts/:id`, `POST /spec/*`,
// `* /hosts/*`.
import type { AnyEndpoint } from "./endpoint.ts";

const pattern = /^(GET|HEAD|POST|PUT|PATCH|DELETE|\*) (\/\S*)$/;

interface EndpointPattern {
  readonly method: string;
  readonly parts: readonly string[];
}

/** Returns method and path segments, or null if the text is not a pattern. */
function parsePattern(text: string): EndpointPattern | null {
  const [, method, path] = pattern.exec(text) ?? [];
  return method === undefined || path === undefined ? null : { method, parts: path.slice(1).split("/") };
}

/** Normalises a pattern: one blank, the method in capitals, the path without a version. */
export function cleanPattern(text: string): string {
  const [method = "", ...path] = text.trim().split(/\s+/);
  const short = path.join(" ").replace(/^\/api\/[^/\s]+\/svc(?=\/)/, "");
  return `${method.toUpperCase()} ${short.length > 1 ? short.replace(/\/$/, "") : short}`;
}

/** A trailing `*` matches any number of segments, any other `*` exactly one. Parameter names do not matter. */
function fits(pattern: readonly string[], path: string): boolean {
  const parts = path.slice(1).split("/");
  const open = pattern.at(-1) === "*";
  if (open ? parts.length < pattern.length : parts.length !== pattern.length) return false;
  return pattern.every((part, i) => part === "*" || part === parts[i] || (part[0] === ":" && parts[i]![0] === ":"));
}

/** Whether the pattern matches the endpoint by any of its paths. What `reveals` secrets must be named without `*`. */
export function namesEndpoint(text: string, { method, path, aliases, reveals }: AnyEndpoint): boolean {
  const parsed = parsePattern(text);
  if (!parsed || (parsed.method !== "*" && parsed.method !== method)) return false;
  if (reveals && (parsed.method === "*" || parsed.parts.includes("*"))) return false;
  return [path, ...aliases].some((candidate) => fits(parsed.parts, candidate));
}

/**
 * Finds the endpoint for a method and a path, which may contain parameter names or values (`GET /hosts/7`). Literal
 * paths take precedence.
 */
export function findEndpoint<E extends AnyEndpoint>(text: string, all: readonly E[]): E | undefined {
  const parsed = parsePattern(text);
  if (!parsed) return undefined;
  const of = ({ method, path, aliases }: E, same: (part: string, textPart: string) => boolean) =>
    method === parsed.method &&
    [path, ...aliases].some((candidate) => {
      const parts = candidate.slice(1).split("/");
      return parts.length === parsed.parts.length && parts.every((part, i) => same(part, parsed.parts[i]!));
    });
  const exact = all.find((endpoint) => of(endpoint, (part, textPart) => part === textPart));
  if (exact) return exact;
  const matches = all.filter((endpoint) => of(endpoint, (part, textPart) => part === textPart || part[0] === ":"));
  const parameters = ({ path }: E) => path.split(":").length;
  return matches.sort((a, b) => parameters(a) - parameters(b))[0];
}
