import type { AnyEndpoint } from "../api/endpoint.ts";
import { isRecord } from "../text/record.ts";

export interface FieldReason {
  readonly name: string;
  readonly reason: string;
}

interface MoreOfError {
  readonly errors?: readonly FieldReason[];
  readonly requestId?: string;
  readonly retryAfter?: number;
  readonly isSsoRequired?: boolean;
  readonly hasChanged?: boolean;
  readonly isOverloaded?: boolean;
  readonly allowedEndpoints?: readonly string[];
  readonly endpoint?: CalledEndpoint;
}

/** The declaration of the endpoint that was called. */
export type CalledEndpoint = Pick<AnyEndpoint, "method" | "path" | "access">;

/** The server replied with an error. */
export class ApiCallError extends Error {
  readonly status: number;
  readonly errors: readonly FieldReason[];
  /** The uuid under which the server logged the error. */
  readonly requestId: string | undefined;
  /** Seconds to wait before a retry, if the server named them. */
  readonly retryAfter: number | undefined;
  /** Whether the user of a device has to sign in on its page first. */
  readonly isSsoRequired: boolean;
  /** Whether something has changed since the caller read it. */
  readonly hasChanged: boolean;
  /** Whether the server has too much to do at the moment. */
  readonly isOverloaded: boolean;
  /** The patterns of endpoints that the API token is limited to, which the reason may contain. */
  readonly allowedEndpoints: readonly string[];
  /** What was called, if it is known. */
  readonly endpoint: CalledEndpoint | undefined;

  constructor(status: number, message: string, more: MoreOfError = {}) {
    super(message);
    this.name = "ApiCallError";
    this.status = status;
    this.errors = more.errors ?? [];
    this.requestId = more.requestId;
    this.retryAfter = more.retryAfter;
    this.isSsoRequired = more.isSsoRequired ?? false;
    this.hasChanged = more.hasChanged ?? false;
    this.isOverloaded = more.isOverloaded ?? false;
    this.allowedEndpoints = more.allowedEndpoints ?? [];
    this.endpoint = more.endpoint;
  }
}

/** The server does not support dry runs. `sent`: it received the request anyway and has carried it out. */
export class DryRunNotSupported extends Error {
  readonly sent: boolean;

  constructor(sent: boolean) {
    super(
      sent
        ? "the server ignored the dry run: the request was carried out"
        : "the server does not support dry runs: it is older than this client",
    );
    this.name = "DryRunNotSupported";
    this.sent = sent;
  }
}

/** A path parameter that would lead to another path: nothing can be requested by this value. */
export class NotInPath extends Error {
  readonly value: string;

  constructor(name: string, value: string) {
    super(
      value === "" ? `${name} is empty` : `${name} ${value} cannot be requested: URLs treat it as a step in the path`,
    );
    this.name = "NotInPath";
    this.value = value;
  }
}

/** No reply, or a reply that does not come from an svc server. */
export class Unreachable extends Error {
  readonly url: string;
  /** System or TLS error code, e.g. ECONNREFUSED or DEPTH_ZERO_SELF_SIGNED_CERT. */
  readonly code: string | undefined;

  constructor(url: string, message: string, code?: string, cause?: unknown) {
    super(message, { cause });
    this.name = "Unreachable";
    this.url = url;
    this.code = code;
  }
}

/** Parses the server's error body leniently, because a proxy in between may reply anything. */
export function apiCallError(
  status: number,
  headers: { get(name: string): string | null },
  text: string,
  endpoint?: CalledEndpoint,
): ApiCallError {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    body = undefined;
  }
  const record = isRecord(body) ? body : {};
  const errors = Array.isArray(record.errors)
    ? record.errors
        .filter(isRecord)
        .map(({ name, reason }) => ({ name: String(name ?? "base"), reason: String(reason ?? "") }))
    : [];
  const location = headers.get("location");
  const message =
    typeof record.message === "string" && record.message !== ""
      ? record.message
      : location && status >= 300 && status < 400
        ? `the server redirects to ${location}`
        : `the server replied with status ${status}`;
  const seconds = retryAfterSeconds(headers.get("retry-after"));
  const requestId = typeof record.uuid === "string" ? record.uuid : (headers.get("x-request-id") ?? undefined);
  return new ApiCallError(status, message, {
    errors,
    isSsoRequired: record.sso_required === true,
    hasChanged: record.changed === true,
    isOverloaded: record.overloaded === true,
    allowedEndpoints: Array.isArray(record.allowed_endpoints) ? record.allowed_endpoints.map(String) : [],
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(requestId === undefined ? {} : { requestId }),
    ...(seconds === undefined ? {} : { retryAfter: seconds }),
  });
}

/** Seconds of a `retry-after` header in either of its forms (RFC 9110, section 10.2.3). */
export function retryAfterSeconds(value: string | null, now = Date.now()): number | undefined {
  if (value === null || value.trim() === "") return undefined;
  if (/^\d+$/.test(value.trim())) return Number(value.trim());
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - now) / 1000));
}
