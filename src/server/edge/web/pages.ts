// Everything that is served besides the API: health, metrics, the API's description and the web pages.
import type { H3, H3Event } from "h3";
import { openApiDocument } from "../../../api/openapi.ts";
import type { Services } from "../../platform/core/context.ts";
import type { ApiError } from "../../platform/core/errors.ts";
import { callerOf } from "../../platform/core/http/proxies.ts";
import { measuredAsync, strangerCost } from "../../platform/core/http/strangers.ts";
import { version } from "../../platform/core/version.ts";
import { assetResponse, assets } from "./assets.ts";
import { health } from "./health.ts";
import { docsPage } from "./pages/docs-page.ts";
import { webPages } from "./pages-table.ts";
import { answerPage } from "./visit.ts";

const htmlHeaders = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy":
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
};

/** Converts an exception of a page to an error, and logs it unless it is an intended error. */
type AsError = (thrown: unknown, event: H3Event) => ApiError;

interface Described {
  readonly document: string;
  readonly page: ReturnType<typeof docsPage>;
}

let known: Described | undefined;

/** The API's description, which never changes. Built on first use, because that takes a quarter of a second. */
function described(): Described {
  if (known) return known;
  const document = JSON.stringify(openApiDocument(version.version));
  known = { document, page: docsPage(JSON.parse(document)) };
  return known;
}

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

  for (const segment of ["v1", "2022-04", "latest"])
    costly(
      `/api/${segment}/svc/openapi.json`,
      () => new Response(described().document, { headers: { "content-type": "application/json; charset=utf-8" } }),
    );
  costly("/api/docs", () => new Response(described().page.html, { headers: htmlHeaders }));
  for (const asset of assets) get(asset.path, () => assetResponse(asset));
  for (const one of webPages) {
    const answer = (event: H3Event) => answerPage(services, one, event, (thrown) => asError(thrown, event));
    if (one.method === "GET") get(one.path, answer);
    else app.post(one.path, answer);
  }
  get(
    "/api/docs/style.css",
    () => new Response(described().page.css, { headers: { "content-type": "text/css; charset=utf-8" } }),
  );
}

export async function metricsResponse({ metrics }: Services): Promise<Response> {
  return new Response(await metrics.registry.metrics(), { headers: { "content-type": metrics.registry.contentType } });
}
