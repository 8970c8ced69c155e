// The HTTP application: mounts every route of the API table under every version.
import type { IncomingMessage } from "node:http";
import { H3, type H3Event } from "h3";
import { DRY_RUN } from "../api/dry-run.ts";
import type { AnyEndpoint, Method } from "../api/endpoint.ts";
import { servedPaths } from "../api/paths.ts";
import { UNTRUSTED_PROXY } from "../api/warnings.ts";
import { mountAgent } from "./edge/agent/http/mount.ts";
import { mountPages } from "./edge/web/pages.ts";
import { missingPage } from "./edge/web/visit.ts";
import { baseHeaders, loggedError, refusal, renderError } from "./error-replies.ts";
import type { Features } from "./features.ts";
import type { Context, Services } from "./platform/core/context.ts";
import { type ApiError, noSuchPath, wrongMethod } from "./platform/core/errors.ts";
import { arriving } from "./platform/core/http/bodies/arriving.ts";
import { readBody } from "./platform/core/http/bodies/read.ts";
import type { BodySource, ByteSource } from "./platform/core/http/body.ts";
import { bodyRoom } from "./platform/core/http/body-room.ts";
import { errorForms } from "./platform/core/http/error-forms.ts";
import { allowLong } from "./platform/core/http/long-request.ts";
import type { Protocol } from "./platform/core/http/protocol.ts";
import { callerOf, hasUntrustedProxy } from "./platform/core/http/proxies.ts";
import { responseOf } from "./platform/core/http/replies.ts";
import { count } from "./platform/core/http/request-counts.ts";
import type { RawInput, Reply, Route } from "./platform/core/http/route.ts";
import { EACH, strangerCost } from "./platform/core/http/strangers.ts";
import { memo } from "./platform/core/memo.ts";
import { Uploads } from "./platform/files/service.ts";
import { uploadedFile } from "./platform/uploads/service.ts";
import { protocolsOf } from "./protocols.ts";
import { contextOf, type RequestParts } from "./request-context.ts";
import { routes } from "./routes.ts";

/** Endpoints besides those of the API. */
export interface MoreEndpoints {
  readonly routes: readonly Route[];
  readonly protocols: readonly Protocol[];
}
const none: MoreEndpoints = { routes: [], protocols: [] };

export function createApp(services: Services, features: Features, more: MoreEndpoints = none): H3 {
  const app = new H3({
    silent: true,
    onError: (error, event) =>
      renderError(services, requestPartsOf(services, event), error.unhandled ? error.cause : error),
  });
  mountPages(app, services, (thrown, event) => loggedError(services, requestPartsOf(services, event), thrown));
  mountAgent(app, services, features.agent);
  mountTable(app, more.routes, () => services);
  for (const protocol of [...protocolsOf(services.settings), ...more.protocols]) mountProtocol(app, services, protocol);
  app.all("/**", (event) => {
    event.context.services = services;
    return apiOf(routes).handler(event);
  });
  return app;
}

type ServicesOf = (event: H3Event) => Services;

/**
 * The router of the API, which is the same for every server: filling it takes longer than everything else that a server
 * does at its start. Whose services answer a request is in the request's context.
 */
const apiOf = memo((table: readonly Route[]) => {
  const app = new H3({ silent: true });
  const of: ServicesOf = ({ context }) => context.services as Services;
  mountTable(app, table, of);
  app.all("/**", (event) => {
    strangerCost(of(event), callerOf(of(event), event.req.ip ?? "", event.req.headers)).charge(EACH);
    if (isForBrowser(event)) return missingPage(of(event));
    throw noSuchPath(event.url.pathname);
  });
  return app;
});

function mountTable(app: H3, table: readonly Route[], of: ServicesOf): void {
  const all = table.map((entry): ServedRoute => [entry, servedPaths(entry.endpoint)]);
  for (const [entry, paths] of all) mount(app, of, entry, paths, errorForms[entry.endpoint.mediaType]);
  refuseOtherMethods(app, refusalsOf(all));
}

const isForBrowser = ({ req, url }: H3Event): boolean =>
  req.method === "GET" && !url.pathname.startsWith("/api/") && /\btext\/html\b/.test(req.headers.get("accept") ?? "");

function mountProtocol(app: H3, services: Services, protocol: Protocol): void {
  const { routes, pathsOf = servedPaths } = protocol;
  const all = routes.map((entry): ServedRoute => [entry, pathsOf(entry.endpoint)]);
  for (const [entry, paths] of all) mount(app, () => services, entry, paths, protocol);
  refuseOtherMethods(app, refusalsOf(all), (error, event) =>
    refusal(services, requestPartsOf(services, event), error, protocol),
  );
}

function mount(
  app: H3,
  of: ServicesOf,
  { endpoint, run }: Route,
  paths: readonly string[],
  protocol: Omit<Protocol, "routes"> = {},
): void {
  const answer = async (event: H3Event): Promise<Response> => {
    const started = performance.now();
    const services = of(event);
    const parts = requestPartsOf(services, event);
    const ctx = await contextOf(services, parts, endpoint.access).catch((error: unknown) =>
      refusal(services, parts, error, protocol),
    );
    if (ctx instanceof Response) return ctx;
    const reply: Reply = { status: endpoint.status, headers: {} };
    const uploads = new Uploads(services);
    const req = nodeRequest(event);
    if (req !== undefined && ["multipart", "stream"].includes(endpoint.takes.kind)) allowLong(req);
    try {
      const value = await run(rawInput(event, endpoint, ctx, uploads), ctx, reply);
      // What a dry run would have referred to the files is rolled back.
      if (reply.headers[DRY_RUN] !== undefined) await discard(uploads, ctx);
      const headers = { ...baseHeaders(ctx.requestId, services), ...warnings(ctx), ...protocol.headers };
      const response = await responseOf(endpoint, value, reply, headers, event.req);
      count(services, endpoint, response.status, started);
      return response;
    } catch (error) {
      await discard(uploads, ctx);
      const response = refusal(services, parts, error, protocol);
      count(services, endpoint, response.status, started);
      return response;
    }
  };
  for (const path of paths) for (const method of methodsOf(endpoint)) app.on(method, path, answer);
}

/** Configuration problems of this server for `svc doctor`, sent to signed-in users with a global role. */
const warnings = (ctx: Context): Record<string, string> =>
  ctx.user.global_role !== null && hasUntrustedProxy(ctx) ? { "x-svc-warning": UNTRUSTED_PROXY } : {};

/** What cannot be removed now, a job removes later. */
async function discard(uploads: Uploads, { log, requestId }: Context): Promise<void> {
  await uploads.discard().catch((err: unknown) => log.warn({ request_id: requestId, err }, "a file was not removed"));
}

const methodsOf = (endpoint: AnyEndpoint): readonly Method[] =>
  endpoint.method === "GET" && endpoint.hasHead ? ["GET", "HEAD"] : [endpoint.method];

interface Refusal {
  readonly path: string;
  /** The methods with a route for this path, and those of routes that match it through a path parameter. */
  readonly allow: readonly string[];
  readonly named: readonly string[];
}

/** Replies 405 to a known path with another method. Must be mounted after every route. */
function refuseOtherMethods(
  app: H3,
  all: readonly Refusal[],
  render?: (error: ApiError, event: H3Event) => Response,
): void {
  for (const { path, allow, named } of all) {
    const refuse = (event: H3Event) => {
      const error = wrongMethod(event.req.method, event.url.pathname, [...allow, ...named]);
      if (render) return render(error, event);
      throw error;
    };
    if (named.length === 0) app.all(path, refuse);
    else for (const method of METHODS) if (![...allow, ...named].includes(method)) app.on(method, path, refuse);
  }
}

function refusalsOf(served: readonly ServedRoute[]): Refusal[] {
  const methods = new Map<string, string[]>();
  for (const [{ endpoint }, paths] of served)
    for (const path of paths) methods.set(path, [...(methods.get(path) ?? []), ...methodsOf(endpoint)]);
  const templates = new Map<number, { endpoint: AnyEndpoint; parts: string[] }[]>();
  for (const [{ endpoint }, paths] of served)
    for (const path of paths.filter((pattern) => pattern.includes(":"))) {
      const parts = path.split("/");
      templates.set(parts.length, [...(templates.get(parts.length) ?? []), { endpoint, parts }]);
    }
  return [...methods].map(([path, allow]) => {
    // DELETE /labels/summary refers to the label of that name, through DELETE /labels/:name.
    const segments = path.split("/");
    const named = (path.includes(":") ? [] : (templates.get(segments.length) ?? []))
      .filter(({ endpoint, parts }) => !allow.includes(endpoint.method) && names(endpoint, parts, segments))
      .map(({ endpoint }) => endpoint.method as string);
    return { path, allow, named };
  });
}

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"] as const;

/**
 * Whether the path, which has no parameters and the same number of parts, matches the endpoint with valid parameter
 * values.
 */
function names({ params }: AnyEndpoint, parts: readonly string[], segments: readonly string[]): boolean {
  const isParameter = (part: string) => part.startsWith(":");
  if (!parts.every((part, at) => part === segments[at] || isParameter(part))) return false;
  const filled = parts.flatMap((part, at) => (isParameter(part) ? [[part.slice(1), segments[at]]] : []));
  // Each schema is used once here: generating code for it would take much longer.
  return params.safeParse(Object.fromEntries(filled), { jitless: true }).success;
}

type ServedRoute = readonly [route: Route, paths: readonly string[]];

/** The server listens for HTTP/1 only. */
const nodeRequest = (event: H3Event): IncomingMessage | undefined =>
  event.runtime?.node?.req as IncomingMessage | undefined;

function requestPartsOf({ random }: Pick<Services, "random">, event: H3Event): RequestParts {
  const { req, url, context } = event;
  context.requestId ??= random.uuid();
  return {
    id: context.requestId as string,
    method: req.method,
    path: url.pathname,
    search: url.search,
    url: () => url,
    headers: req.headers,
    peer: req.ip ?? "",
    socket: nodeRequest(event)?.socket,
  };
}

function rawInput(event: H3Event, endpoint: AnyEndpoint, ctx: Context, { store }: Uploads): RawInput {
  const query = Object.fromEntries(
    [...new Set(event.url.searchParams.keys())].map((key) => [key, event.url.searchParams.getAll(key)]),
  );
  const params = Object.fromEntries(
    Object.entries(event.context.params ?? {}).map(([key, value]) => [key, decodeParam(value)]),
  );
  const files = { store, uploaded: (id: number) => uploadedFile(ctx, id) };
  const sent = () => ({ headers: event.req.headers, body: sentBytes(event) });
  return {
    params,
    query,
    body: (check, admission) => readBody(sent(), endpoint, bodySource(ctx), files, check, admission),
  };
}

/** Requests without a socket, those of tests, are not of Node. */
function sentBytes(event: H3Event): ByteSource | null {
  const req = nodeRequest(event);
  return req === undefined ? event.req.body : arriving(req);
}

/** The memory budget that the request's body counts against. */
function bodySource(ctx: Context): BodySource {
  const room = ctx.running.of(bodyRoom);
  if (ctx.user.kind === "user") return { room, sender: { trust: "proved", name: `user ${ctx.user.id}` } };
  if (ctx.host) return { room, sender: { trust: "proved", name: `host ${ctx.host.id}` } };
  return { room, sender: room.byAddress(ctx.address) };
}

function decodeParam(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
