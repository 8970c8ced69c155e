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
function fits(wanted: readonly string[], path: string): boolean {
  const parts = path.slice(1).split("/");
  const open = wanted.at(-1) === "*";
  if (open ? parts.length < wanted.length : parts.length !== wanted.length) return false;
  return wanted.every((part, i) => part === "*" || part === parts[i] || (part[0] === ":" && parts[i]![0] === ":"));
}

/** Whether the pattern matches the endpoint by any of its paths. What `reveals` secrets must be named without `*`. */
export function namesEndpoint(text: string, { method, path, aliases, reveals }: AnyEndpoint): boolean {
  const parsed = parsePattern(text);
  if (!parsed || (parsed.method !== "*" && parsed.method !== method)) return false;
  if (reveals && (parsed.method === "*" || parsed.parts.includes("*"))) return false;
  return [path, ...aliases].some((one) => fits(parsed.parts, one));
}

/**
 * Finds the endpoint for a method and a path, which may contain parameter names or values (`GET /hosts/7`). Literal
 * paths take precedence.
 */
export function findEndpoint<E extends AnyEndpoint>(text: string, all: readonly E[]): E | undefined {
  const parsed = parsePattern(text);
  if (!parsed) return undefined;
  const of = ({ method, path, aliases }: E, same: (part: string, own: string) => boolean) =>
    method === parsed.method &&
    [path, ...aliases].some((one) => {
      const own = one.slice(1).split("/");
      return own.length === parsed.parts.length && own.every((part, i) => same(part, parsed.parts[i]!));
    });
  const exact = all.find((one) => of(one, (part, own) => part === own));
  if (exact) return exact;
  const found = all.filter((one) => of(one, (part, own) => part === own || part[0] === ":"));
  const parameters = ({ path }: E) => path.split(":").length;
  return found.sort((a, b) => parameters(a) - parameters(b))[0];
}
