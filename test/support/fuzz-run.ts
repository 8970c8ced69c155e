// Sends generated requests as callers of every kind, and checks each reply. Used by the unit test and by the long run.
import { z } from "zod";
import { allEndpoints } from "../../src/api/all.ts";
import { SCIM } from "../../src/api/endpoint.ts";
import { ErrorBody } from "../../src/api/fields.ts";
import { scimUrns } from "../../src/api/hosts/scim.ts";
import { type FuzzRequest, RequestFuzz } from "./request-fuzz.ts";

export interface FuzzTarget {
  send(request: FuzzRequest, token: string | null): Promise<Response>;
  /** Tokens of callers of every kind, by name, an admin's first. */
  tokens(): Promise<Record<string, string | null>>;
  ids(): Promise<number[]>;
}

export interface FuzzReport {
  readonly byStatus: Record<string, number>;
  readonly byKind: Record<string, Record<string, number>>;
  /** The endpoints that were requested, with the status of each reply, in order. Ids differ between stores. */
  readonly replies: string[];
  readonly faults: string[];
}

/** Requests that no handler sees (headers over Node's limit) get a reply for agents too, which look for `error`. */
const Unhandled = ErrorBody.extend({ error: z.string() });

/** RFC 7644, section 3.12, with the API's own form in it. */
const ScimError = ErrorBody.extend({
  schemas: z.tuple([z.literal(scimUrns.error)]),
  status: z.string().regex(/^[45]\d\d$/),
  scimType: z.string().optional(),
  detail: z.string().min(1),
});
function errorSchema(status: number, type: string | null) {
  if (status === 431) return Unhandled;
  return type?.startsWith(SCIM) ? ScimError : ErrorBody;
}

/** Paths without parameters. */
const plainPaths = new Set(allEndpoints.map(({ endpoint }) => endpoint.path).filter((path) => !path.includes(":")));

function isOfAnother({ path, endpoint }: Pick<FuzzRequest, "path" | "endpoint">): boolean {
  const [, below = ""] = /^\/api\/[^/]+\/svc(\/[^?]*)/.exec(path) ?? [];
  return below !== endpoint.path && plainPaths.has(below);
}

/** The number of requests after which callers and objects are created again, because requests delete them. */
const RENEW_EVERY = 30;

export async function runFuzz(target: FuzzTarget, count: number, seed: number): Promise<FuzzReport> {
  let ids: number[] = [1];
  const fuzz = new RequestFuzz(
    seed,
    allEndpoints.map(({ endpoint }) => endpoint),
    () => ids,
  );
  const report: FuzzReport = { byStatus: {}, byKind: {}, replies: [], faults: [] };
  let callers: [string, string | null][] = [];
  for (let i = 0; i < count; i++) {
    if (i % RENEW_EVERY === 0) {
      callers = Object.entries(await target.tokens());
      ids = await target.ids();
    }
    const request = fuzz.next();
    // The first of them has all rights; refused requests would test little.
    const [caller, token] = fuzz.dice.chance(0.6) ? callers[0]! : fuzz.dice.pick(callers);
    const tell = (what: string) =>
      report.faults.push(
        `#${i} seed ${seed} as ${caller}: ${request.method} ${request.path} ${request.body?.slice(0, 500) ?? ""}\n  ${what}`,
      );
    try {
      const res = await target.send(request, token);
      const status = `${Math.floor(res.status / 100)}xx`;
      report.replies.push(`#${i} as ${caller}: ${request.method} ${request.endpoint.path} ${res.status}`);
      report.byStatus[res.status] = (report.byStatus[res.status] ?? 0) + 1;
      const kinds = report.byKind[request.kind] ?? {};
      report.byKind[request.kind] = kinds;
      kinds[status] = (kinds[status] ?? 0) + 1;
      // An event stream does not end by itself.
      const isEndless = res.headers.get("content-type")?.startsWith("text/event-stream") === true;
      if (isEndless) await res.body?.cancel();
      const text = isEndless ? "" : await res.text();
      // A path that happens to be that of another endpoint, such as /teams/0, is answered by that.
      const isOthers = isOfAnother(request);
      const declared = !isOthers && request.method === request.endpoint.method && request.endpoint.produces === null;
      if (res.ok && declared && text !== "") {
        const reply = request.endpoint.response.safeParse(JSON.parse(text));
        if (!reply.success) tell(`${res.status}, a reply that was not declared: ${reply.error.message.slice(0, 1000)}`);
      }
      // The API documents 500 for these, without outgoing mail or with an invalid mail server.
      const isMail = res.status === 500 && /"message":"Mail Error"|"reason":"email not configured"/.test(text);
      if (res.status >= 500 && !isMail) tell(`${res.status} ${text.slice(0, 500)}`);
      else if (res.status >= 400) {
        const schema = errorSchema(res.status, res.headers.get("content-type"));
        const refused = schema.strict().safeParse(JSON.parse(text));
        if (!refused.success) tell(`${res.status} with a body of another shape: ${text.slice(0, 500)}`);
      }
    } catch (error) {
      tell(String(error).slice(0, 2000));
    }
    if (report.faults.length >= 20) break;
  }
  return report;
}
