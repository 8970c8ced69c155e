// How endpoints are named in the limits of API tokens and on the command line: `GET /hosts/:id`, `POST /spec/*`, `* /hosts/*`.
import type { AnyEndpoint } from "./endpoint.ts";

const pattern = /^(GET|HEAD|POST|PUT|PATCH|DELETE|\*) (\/\S*)$/;

interface Parsed {
  readonly method: string;
  readonly parts: readonly string[];
}

/** Method and path segments; null for what is no pattern. */
export function parsePattern(text: string): Parsed | null {
  const [, method, path] = pattern.exec(text) ?? [];
  return method === undefined || path === undefined ? null : { method, parts: path.slice(1).split("/") };
}

/** One blank, the method in capitals, the path without a version before it. */
export function cleanPattern(text: string): string {
  const [method = "", ...path] = text.trim().split(/\s+/);
  const short = path.join(" ").replace(/^\/api\/[^/\s]+\/svc(?=\/)/, "");
  return `${method.toUpperCase()} ${short.length > 1 ? short.replace(/\/$/, "") : short}`;
}

/** A last `*` stands for whatever follows, any other `*` for one segment; parameters may have any name. */
function fits(wanted: readonly string[], path: string): boolean {
  const parts = path.slice(1).split("/");
  const open = wanted.at(-1) === "*";
  if (open ? parts.length < wanted.length : parts.length !== wanted.length) return false;
  return wanted.every((part, i) => part === "*" || part === parts[i] || (part[0] === ":" && parts[i]![0] === ":"));
}

/** Whether the pattern names the endpoint, by any of its paths. */
export function namesEndpoint(text: string, { method, path, aliases }: AnyEndpoint): boolean {
  const parsed = parsePattern(text);
  if (!parsed || (parsed.method !== "*" && parsed.method !== method)) return false;
  return [path, ...aliases].some((one) => fits(parsed.parts, one));
}

/** The one endpoint that a method and path mean: a path as described, or one with values in it (`GET /hosts/7`); literal paths win. */
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
