// Everything that is served besides the API: health, metrics, the API's description and the web pages.
import type { H3, H3Event } from "h3";
import type { Services } from "../../platform/core/context.ts";
import type { ApiError } from "../../platform/core/errors.ts";
import { callerOf } from "../../platform/core/http/proxies.ts";
import { measuredAsync, strangerCost } from "../../platform/core/http/strangers.ts";
import { type ApiDescription, apiDescription } from "./api-description.ts";
import { assetResponse, assets } from "./assets.ts";
import { builtConsole, CONSOLE_ASSETS, consoleFile } from "./console/files.ts";
import { health } from "./health.ts";
import { webPages } from "./pages-table.ts";
import { answerPage, missingPage } from "./visit.ts";

const htmlHeaders = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy":
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
};

/** Milliseconds that it costs to send a MiB. */
const SENDING_MS_PER_MIB = 2;

/** Converts an exception of a page to an error, and logs it unless it is an intended error. */
type AsError = (thrown: unknown, event: H3Event) => ApiError;

export function mountPages(app: H3, services: Services, asError: AsError): void {
  // HEAD is supported too (RFC 9110, 9.1), because load balancers probe with it. Node leaves the body out.
  const get = (path: string, handler: (event: H3Event) => Response | Promise<Response>) => {
    app.get(path, handler);
    app.on("HEAD", path, handler);
  };
  get("/healthz", async () => {
    const { ok, body } = await health(services);
    return Response.json(body, { status: ok ? 200 : 503, headers: { "cache-control": "no-store" } });
  });
  /** What takes long, and is for everybody. */
  const costly = (path: string, work: () => Response | Promise<Response>) =>
    get(path, ({ req }) => {
      const cost = strangerCost(services, callerOf(services, req.ip ?? "", req.headers));
      cost.admit();
      return measuredAsync({ cost }, async () => work());
    });
  if (services.settings.metrics_port === undefined) costly("/metrics", () => metricsResponse(services));

  const describing = (path: string, name: keyof ApiDescription, headers: Readonly<Record<string, string>>) =>
    get(path, async ({ req }) => {
      const cost = strangerCost(services, callerOf(services, req.ip ?? "", req.headers));
      cost.admit();
      const description = await services.running.of(apiDescription).get();
      const bytes = description[name];
      cost.charge((bytes.length / (1024 * 1024)) * SENDING_MS_PER_MIB);
      return new Response(bytes, { headers });
    });
  for (const segment of ["v1", "2022-04", "latest"])
    describing(`/api/${segment}/svc/openapi.json`, "document", { "content-type": "application/json; charset=utf-8" });
  describing("/api/docs", "html", htmlHeaders);
  describing("/api/docs/style.css", "css", { "content-type": "text/css; charset=utf-8" });
  for (const asset of assets) get(asset.path, () => assetResponse(asset));
  get(`${CONSOLE_ASSETS}/:name`, async ({ req, context }) => {
    const files = services.settings.console ? await services.running.of(builtConsole).files() : null;
    const file = files && (await consoleFile(files, context.params?.name ?? "", req.headers.get("accept-encoding")));
    return file ?? missingPage(services);
  });
  for (const page of webPages) {
    const answer = (event: H3Event) => answerPage(services, page, event, (thrown) => asError(thrown, event));
    if (page.method === "GET") get(page.path, answer);
    else app.post(page.path, answer);
  }
}

export async function metricsResponse({ metrics }: Services): Promise<Response> {
  return new Response(await metrics.registry.metrics(), { headers: { "content-type": metrics.registry.contentType } });
}
