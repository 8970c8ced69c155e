export interface FieldReason {
  readonly name: string;
  readonly reason: string;
}

/** The server answered, and the answer is an error. */
export class ApiCallError extends Error {
  readonly status: number;
  readonly errors: readonly FieldReason[];
  /** The uuid under which the server logged it. */
  readonly requestId: string | undefined;
  /** Seconds to wait, where the server said so. */
  readonly retryAfter: number | undefined;

  constructor(
    status: number,
    message: string,
    more: { errors?: readonly FieldReason[]; requestId?: string; retryAfter?: number } = {},
  ) {
    super(message);
    this.name = "ApiCallError";
    this.status = status;
    this.errors = more.errors ?? [];
    this.requestId = more.requestId;
    this.retryAfter = more.retryAfter;
  }
}

/** No answer, or none that a svc server would give. */
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

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Reads the server's error body leniently: a proxy in between may answer anything. */
export function apiCallError(
  status: number,
  headers: { get(name: string): string | null },
  text: string,
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
        : `the server answered with status ${status}`;
  const seconds = retryAfterSeconds(headers.get("retry-after"));
  const requestId = typeof record.uuid === "string" ? record.uuid : (headers.get("x-request-id") ?? undefined);
  return new ApiCallError(status, message, {
    errors,
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
