// A server whose texts all try to control the terminal that shows them: replies are generated from the endpoints' own
// schemas.
import { z } from "zod";
import { allEndpoints } from "../../src/api/all.ts";
import { findEndpoint } from "../../src/api/endpoint-patterns.ts";
import type { Send } from "../../src/client/transport.ts";

/** Colours, titles, erased screens, C1 controls, carriage returns, backspaces and changes of direction. */
export const HOSTILE =
  "\u001b[35mPWNED\u001b]0;title\u0007\u001b[2J\u001b[1;1H\r\b\u009b35m\u009d0;x\u009c\u202egnp\u2066\u007f\u0085\u0000";

interface Schema {
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  format?: string;
  minimum?: number;
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  items?: Schema;
  prefixItems?: Schema[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  $ref?: string;
  $defs?: Record<string, Schema>;
}

export function hostileValue(schema: z.ZodType): unknown {
  const root = z.toJSONSchema(schema, { unrepresentable: "any", io: "output" }) as Schema;
  return make(root, "", 0);

  function make(given: Schema, name: string, depth: number): unknown {
    if (given.$ref !== undefined) {
      if (depth > 12) return null;
      const target = given.$ref === "#" ? root : root.$defs?.[given.$ref.split("/").at(-1)!];
      return make(target ?? {}, name, depth + 1);
    }
    if (given.const !== undefined) return given.const;
    if (given.enum) return given.enum[0];
    const some = given.anyOf ?? given.oneOf;
    if (some) return make(some.find(({ type }) => type !== "null") ?? some[0]!, name, depth + 1);
    if (given.allOf) return Object.assign({}, ...given.allOf.map((one) => make(one, name, depth + 1)));
    const type = Array.isArray(given.type) ? given.type.find((one) => one !== "null") : given.type;
    if (type === "array") return depth > 12 ? [] : [make(given.items ?? given.prefixItems?.[0] ?? {}, name, depth + 1)];
    if (type === "object" || given.properties) {
      const own = Object.entries(given.properties ?? {}).map(([key, one]) => [key, make(one, key, depth + 1)] as const);
      const free = given.additionalProperties;
      const more = typeof free === "object" || own.length === 0 ? [[`key${HOSTILE}`, open(free, depth)] as const] : [];
      return depth > 12 ? {} : Object.fromEntries([...own, ...more]);
    }
    if (type === "integer" || type === "number") return Math.max(1, given.minimum ?? 1);
    if (type === "boolean") return !name.startsWith("has_");
    if (type === "null" || name === "next_cursor") return null;
    if (given.format === "date-time") return "2026-03-01T11:57:00.000Z";
    return `text${HOSTILE}`;
  }
  function open(free: Schema | boolean | undefined, depth: number): unknown {
    return typeof free === "object" ? make(free, "", depth + 1) : `text${HOSTILE}`;
  }
}

const row = { [`column${HOSTILE}`]: `cell${HOSTILE}` };
const host = { id: 1, hostname: `host${HOSTILE}`, display_name: `host${HOSTILE}` };
const counts = { targets: 2, waiting: 0, answered: 1, error: 0, offline: 1, timed_out: 0, cancelled: 0 };
const events = [
  { id: 1, event: "result", data: { distributed_query_execution_id: 1, host, rows: [row], error: null, stats: null } },
  { id: 2, event: "result", data: { distributed_query_execution_id: 1, host, rows: [], error: `e${HOSTILE}` } },
  { id: 3, event: "status", data: { status: "finished", expected_left: 0, counts } },
];
const streams: Readonly<Record<string, () => string>> = {
  "text/event-stream": () =>
    events.map(({ id, event, data }) => `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`).join(""),
  "text/csv": () => `name${HOSTILE},os\n"a${HOSTILE}",b${HOSTILE}\n`,
};

/** Replies to every endpoint, as often as one command may call. */
export function hostileServer(): Send {
  let requests = 0;
  const all = allEndpoints.map(({ endpoint }) => endpoint);
  return async (url, init) => {
    requests++;
    if (requests > 40) throw new Error("the command asks without end");
    const path = new URL(url).pathname.replace(/^\/api\/v1(\/svc)?/, "");
    const found = findEndpoint(`${init.method} ${path}`, all);
    if (!found) return new Response(`no${HOSTILE}`, { status: path === "/healthz" ? 503 : 404 });
    if (found.produces !== null) {
      const text = (streams[found.produces] ?? (() => `bytes${HOSTILE}`))();
      return new Response(text, { headers: { "content-type": found.produces, "accept-ranges": "bytes" } });
    }
    return Response.json(hostileValue(found.response));
  };
}
