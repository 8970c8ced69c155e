// The error catalogue: every refusal the API can answer is made here and rendered in one place (http.ts).
import type { ErrorBody } from "../../api/fields.ts";

export interface FieldError {
  readonly name: string;
  readonly reason: string;
}

export class ApiError extends Error {
  readonly status: number;
  readonly errors: readonly FieldError[];
  readonly code: number | null;
  /** Seconds after which a retry makes sense; sent as `Retry-After`. */
  readonly retryAfter: number | null;
  /** The methods that would do; sent as `Allow` (RFC 9110, 15.5.6). */
  readonly allow: readonly string[] | null;

  constructor(
    status: number,
    message: string,
    errors: readonly FieldError[] = [],
    more: { code?: number; retryAfter?: number; allow?: readonly string[] } = {},
  ) {
    super(message);
    this.status = status;
    this.errors = errors;
    this.code = more.code ?? null;
    this.retryAfter = more.retryAfter ?? null;
    this.allow = more.allow ?? null;
  }

  body(uuid: string): ErrorBody {
    return {
      message: this.message,
      ...(this.errors.length > 0 ? { errors: [...this.errors] } : {}),
      ...(this.code === null ? {} : { code: this.code }),
      uuid,
    };
  }
}

const base = (reason: string): FieldError[] => [{ name: "base", reason }];

/** 400: malformed input. */
export const badRequest = (reason: string, name = "base") => new ApiError(400, "Bad request", [{ name, reason }]);
/** 400 with the rule as the message: what was asked needs device management by this server. */
export const mdmOff = () => {
  const text = "device management is not turned on";
  return new ApiError(400, text, base(text));
};
/** 422: an argument breaks a rule; names the field. */
export const invalid = (name: string, reason: string) => new ApiError(422, "Validation Failed", [{ name, reason }]);
export const invalidFields = (errors: readonly FieldError[]) => new ApiError(422, "Validation Failed", errors);
/** 422 with one of the catalogue's codes: 1 role missing or invalid, 2 last admin, 4 gitops role on a user that is not API-only. */
export const roleError = (code: 1 | 2 | 3 | 4, message: string) => new ApiError(422, message, [], { code });
export const authenticationFailed = () => new ApiError(401, "Authentication failed", base("Authentication failed"));
export const authenticationRequired = () =>
  new ApiError(401, "Authentication required", base("Authentication required"));
export const authorizationHeaderRequired = () =>
  new ApiError(401, "Authorization header required", base("Authorization header required"));
export const passwordResetRequired = () =>
  new ApiError(401, "password reset required", base("password reset required"));
export const premiumRequired = () =>
  new ApiError(402, "Requires Svc Premium license", base("Requires Svc Premium license"));
/** 402: the key for what is asked has run out. */
export const licenseRanOut = (expiration: string) => {
  const reason = `the license expired on ${expiration.slice(0, 10)}: what the premium tier has can be read, but not changed`;
  return new ApiError(402, "Requires Svc Premium license", base(reason));
};
/** 403 whose reason the caller may know. */
export const forbiddenFor = (reason: string) => new ApiError(403, "forbidden", base(reason));
export const forbidden = () => new ApiError(403, "forbidden", base("forbidden"));
export const permissionDenied = () => new ApiError(403, "Permission Denied");
/** 404 for a missing object, e.g. `notFound("host", 7)`. */
export const notFound = (kind: string, key: string | number) =>
  new ApiError(404, "Resource Not Found", base(`${kind} ${key} was not found in the datastore`));
export const noSuchPath = (path: string) => new ApiError(404, "Resource Not Found", base(`no endpoint at ${path}`));
export const wrongMethod = (method: string, path: string, allow: readonly string[]) =>
  new ApiError(405, "Method Not Allowed", base(`${method} is not a method of ${path}`), { allow });
export const alreadyExists = (reason: string) => new ApiError(409, "Resource Already Exists", base(reason));
export const conflict = (reason: string) => new ApiError(409, "Conflict", base(reason));
/** 409: the hosts that are meant are others than the caller has seen; names the header that says so. */
export const selectionMoved = (header: string, expected: string, found: string) =>
  new ApiError(409, "Conflict", [
    { name: header, reason: `the selection changed: expected ${expected}, found ${found}` },
  ]);
/** 428: the server is set to take this only together with what the caller has seen (RFC 6585). */
export const preconditionRequired = (header: string) =>
  new ApiError(428, "Precondition Required", [
    { name: header, reason: `${header} is required: this server wants to know which hosts are meant` },
  ]);
export const tooLarge = (limit: number) =>
  new ApiError(413, "Request Entity Too Large", base(`the body is over ${limit} bytes`));
export const unsupportedMediaType = (reason: string) => new ApiError(415, "Unsupported Media Type", base(reason));
export const limitExceeded = (seconds: number) => {
  const text = `limit exceeded, retry after: ${seconds}s`;
  return new ApiError(429, text, base(text), { retryAfter: seconds });
};
/** 429 of a budget: says what it is, and after how many seconds there is room. */
export const overBudget = (reason: string, seconds: number) =>
  new ApiError(429, reason, base(reason), { retryAfter: seconds });
export const unavailable = (reason: string) =>
  new ApiError(503, "Service Unavailable", base(reason), { retryAfter: 5 });
export const upstreamFailed = (reason: string) => new ApiError(502, reason, base(reason));
/** 500 with a reason that may be told. Anything else that is thrown is a 500 without one. */
export const failed = (reason: string) => new ApiError(500, "Unknown Error", base(reason));
/** 500: a mail could not be sent; the reason is one for an admin. */
export const mailError = (reason: string) => new ApiError(500, "Mail Error", base(reason));
