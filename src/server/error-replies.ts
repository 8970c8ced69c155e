// Renders all errors, in the form of the API or of a protocol. Anything but an `ApiError` becomes a 500 whose cause is
// only logged, under the reply's uuid.
import { DRY_RUN_FEATURE, FEATURES } from "../api/dry-run.ts";
import { minutes } from "./platform/core/clock.ts";
import { Overdue } from "./platform/core/concurrency/age.ts";
import { licenseExpired, type Services } from "./platform/core/context.ts";
import { ApiError, insufficientStorage, overloaded, unavailable } from "./platform/core/errors.ts";
import type { Protocol } from "./platform/core/http/protocol.ts";
import { part } from "./platform/core/running.ts";
import { version } from "./platform/core/version.ts";
import { BlobsUnavailable, NoRoom } from "./platform/store/blobs/blobs.ts";
import { ReferenceViolation, StoreUnavailable, UniqueViolation } from "./platform/store/store.ts";
import type { RequestParts } from "./request-context.ts";

/** Headers of every reply. */
export const baseHeaders = (
  requestId: string,
  services: Pick<Services, "license" | "clock">,
): Record<string, string> => ({
  "x-request-id": requestId,
  "x-svc-version": version.version,
  [FEATURES]: DRY_RUN_FEATURE,
  "x-content-type-options": "nosniff",
  "cache-control": "no-store",
  ...(licenseExpired(services) ? { "x-svc-license": "Expired" } : {}),
});

type FailedRequest = Pick<RequestParts, "id" | "path">;

/** The error in the form of the API. */
export function renderError(services: Services, request: FailedRequest, thrown: unknown): Response {
  const error = loggedError(services, request, thrown);
  const headers: Record<string, string> = {
    ...baseHeaders(request.id, services),
    "content-type": "application/json; charset=utf-8",
  };
  if (error.retryAfter !== null) headers["retry-after"] = String(error.retryAfter);
  if (error.size !== null) headers["content-range"] = `bytes */${error.size}`;
  if (error.allow !== null) headers.allow = error.allow.join(", ");
  return new Response(JSON.stringify(error.body(request.id)), { status: error.status, headers });
}

/** The error in the form of the protocol. */
export function refusal(
  services: Services,
  parts: RequestParts,
  thrown: unknown,
  { renderError: render, headers: also = {} }: Omit<Protocol, "routes">,
): Response {
  const response = renderError(services, parts, thrown);
  for (const [name, value] of Object.entries(also)) response.headers.set(name, value);
  if (!render) return response;
  const request = { id: parts.id, method: parts.method, url: parts.url(), headers: parts.headers };
  const { status, type, content, headers = {} } = render(asApiError(thrown), request);
  for (const [name, value] of Object.entries(headers)) response.headers.set(name, value);
  response.headers.delete("content-type");
  if (type !== undefined) response.headers.set("content-type", type);
  return new Response(content ?? null, { status, headers: response.headers });
}

/**
 * The error that may be sent to the client. Server errors (5xx) are logged: those that the code expects, which strangers
 * may cause as often as they like, without a stack trace and once a minute.
 */
export function loggedError(services: Logging, { id, path }: FailedRequest, thrown: unknown): ApiError {
  const error = asApiError(thrown);
  if (error.status < 500) return error;
  const place = { request_id: id, path: loggable(path) };
  if (!(thrown instanceof ApiError)) services.log.error({ ...place, err: thrown }, "request failed");
  else if (services.running.of(expectedFailures).isDue(error, services.clock.now()))
    services.log.error({ ...place, status: error.status, reason: firstReason(error) }, "request failed");
  return error;
}

type Logging = Pick<Services, "log" | "clock" | "running">;

const firstReason = ({ message, errors }: ApiError): string => errors[0]?.reason ?? message;

/** When which expected failure was logged last. */
class ExpectedFailures {
  readonly #lastByReason = new Map<string, number>();

  isDue(error: ApiError, now: number): boolean {
    const reason = firstReason(error);
    const last = this.#lastByReason.get(reason);
    if (last !== undefined && now - last < LOG_EVERY) return false;
    if (this.#lastByReason.size >= REASONS_MAX) this.#lastByReason.clear();
    this.#lastByReason.set(reason, now);
    return true;
  }
}

const LOG_EVERY = minutes(1);
const REASONS_MAX = 100;

const expectedFailures = part("expected failures of requests", () => new ExpectedFailures());

/**
 * Masks path parts that contain secrets: tokens of device pages and of mailed links, and challenges of the SCEP
 * proxy.
 */
const loggable = (path: string): string =>
  path.replace(/\/(device|mfa|reset|invites|change|scep\/proxy)\/[^/]+/, "/$1/***");

const MiB = 1024 * 1024;

const diskFull = ({ free, kept }: NoRoom) =>
  insufficientStorage(
    `the disk of the server is almost full: ${Math.floor(free / MiB)} MiB are free, and ${Math.ceil(kept / MiB)} MiB stay free so that the service works. ` +
      "Delete uploads (svc uploads list --all-users), packages or carves, or enlarge the disk, and send the file again",
  );

function asApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown;
  if (thrown instanceof Overdue) return overloaded("the request waited too long and was not processed; try again");
  if (thrown instanceof NoRoom) return diskFull(thrown);
  if (thrown instanceof BlobsUnavailable)
    return unavailable("uploaded files cannot be stored or read now: the server's bucket does not work; try again");
  if (thrown instanceof StoreUnavailable)
    return unavailable("the database cannot be reached or written to now; try again");
  if (thrown instanceof UniqueViolation)
    return new ApiError(409, "Validation Failed", [{ name: "base", reason: thrown.message }]);
  if (thrown instanceof ReferenceViolation)
    return new ApiError(422, "Validation Failed", [{ name: "base", reason: thrown.message }]);
  const status = foreignStatus(thrown);
  if (status !== null)
    return new ApiError(status, status === 404 ? "Resource Not Found" : "Bad request", [
      { name: "base", reason: "malformed request" },
    ]);
  return new ApiError(500, "Unknown Error", [
    { name: "base", reason: "internal error; the server log has it under this uuid" },
  ]);
}

/** Errors of the framework itself, such as a malformed path, have a client error status. */
function foreignStatus(thrown: unknown): number | null {
  if (!(thrown instanceof Error) || !("status" in thrown) || typeof thrown.status !== "number") return null;
  return thrown.status >= 400 && thrown.status < 500 ? thrown.status : null;
}
