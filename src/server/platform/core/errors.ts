// The error catalogue: every error reply of the API is created here and rendered in one place (app.ts).
import { DRY_RUN } from "../../../api/dry-run.ts";
import type { ErrorBody } from "../../../api/fields.ts";

export interface FieldError {
  readonly name: string;
  readonly reason: string;
}

export class ApiError extends Error {
  readonly status: number;
  readonly errors: readonly FieldError[];
  readonly code: number | null;
  /** Seconds after which the client may retry; sent as `Retry-After`. */
  readonly retryAfter: number | null;
  /** The methods that the path supports; sent as `Allow` (RFC 9110, 15.5.6). */
  readonly allow: readonly string[] | null;
  /** The size of the content, of which no requested byte exists; sent as `Content-Range` (RFC 9110, 15.5.17). */
  readonly size: number | null;
  /** Whether the user of a device has to sign in with the identity provider first. */
  readonly isSsoRequired: boolean;
  /** Whether something has changed since the caller read it. */
  readonly hasChanged: boolean;
  /** Whether the server has too much to do at the moment. */
  readonly isOverloaded: boolean;
  /** The patterns of endpoints that the caller's token is limited to. */
  readonly allowedEndpoints: readonly string[] | null;

  constructor(
    status: number,
    message: string,
    errors: readonly FieldError[] = [],
    more: {
      code?: number;
      retryAfter?: number;
      allow?: readonly string[];
      size?: number;
      isSsoRequired?: boolean;
      hasChanged?: boolean;
      isOverloaded?: boolean;
      allowedEndpoints?: readonly string[];
    } = {},
  ) {
    super(message);
    this.status = status;
    this.errors = errors;
    this.code = more.code ?? null;
    this.retryAfter = more.retryAfter ?? null;
    this.allow = more.allow ?? null;
    this.size = more.size ?? null;
    this.isSsoRequired = more.isSsoRequired ?? false;
    this.hasChanged = more.hasChanged ?? false;
    this.isOverloaded = more.isOverloaded ?? false;
    this.allowedEndpoints = more.allowedEndpoints ?? null;
  }

  body(uuid: string): ErrorBody {
    return {
      message: this.message,
      ...(this.errors.length > 0 ? { errors: [...this.errors] } : {}),
      ...(this.code === null ? {} : { code: this.code }),
      ...(this.isSsoRequired ? { sso_required: true } : {}),
      ...(this.hasChanged ? { changed: true } : {}),
      ...(this.isOverloaded ? { overloaded: true } : {}),
      ...(this.allowedEndpoints === null ? {} : { allowed_endpoints: [...this.allowedEndpoints] }),
      uuid,
    };
  }
}

const base = (reason: string): FieldError[] => [{ name: "base", reason }];

/** 400: malformed input. */
export const badRequest = (reason: string, name = "base") => new ApiError(400, "Bad request", [{ name, reason }]);
/** 400 with the rule as the message: the request needs device management, which is turned off. */
export const mdmOff = () => {
  const text = "device management is not turned on";
  return new ApiError(400, text, base(text));
};
/**
 * 400: a field that needs the premium tier. The message names it in Pascal case, as clients compare it:
 * `LabelsIncludeAny` for `labels_include_any`. `name`: the field's place, if it is not at the top of the body.
 */
export const premiumOption = (field: string, name = field) =>
  badRequest(`option ${field.split("_").map(capitalized).join("")} requires a premium license`, name);
const capitalized = (word: string): string =>
  word.replace(/^ids?$/, (id) => id.replace("id", "ID")).replace(/^./, (letter) => letter.toUpperCase());
/** 400: the request cannot be run as a dry run. */
export const cannotDryRun = (reason: string) =>
  badRequest(`this request does not support dry runs: ${reason}. Send it without the header ${DRY_RUN}.`, DRY_RUN);
/** 422: an argument breaks a rule. The error names the field. */
export const invalid = (name: string, reason: string) => new ApiError(422, "Validation Failed", [{ name, reason }]);
export const invalidFields = (errors: readonly FieldError[]) => new ApiError(422, "Validation Failed", errors);
/** An equal 400 or 422 whose fields are named below `at`, the place of the object that they belong to. */
export function locatedAt(error: unknown, at: string): unknown {
  if (!(error instanceof ApiError) || ![400, 422].includes(error.status)) return error;
  const isLocated = (name: string) => name === "base" || name === at || name.startsWith(`${at}.`);
  const errors = error.errors.map(({ name, reason }) => ({ name: isLocated(name) ? name : `${at}.${name}`, reason }));
  return new ApiError(error.status, error.message, errors);
}
/**
 * 422 with a code of the catalogue: 1 role missing or invalid, 2 last admin, 4 gitops role for a user that is not
 * API-only.
 */
export const roleError = (code: 1 | 2 | 3 | 4, message: string) => new ApiError(422, message, [], { code });
export const authenticationFailed = () => new ApiError(401, "Authentication failed", base("Authentication failed"));
export const authenticationRequired = () =>
  new ApiError(401, "Authentication required", base("Authentication required"));
/** 401: the token of a device's page is valid, but its user has not signed in. */
export const deviceSsoRequired = () =>
  new ApiError(401, "Authentication required", base("sign in on the page of the device first"), {
    isSsoRequired: true,
  });
export const authorizationHeaderRequired = () =>
  new ApiError(401, "Authorization header required", base("Authorization header required"));
export const passwordResetRequired = () =>
  new ApiError(401, "password reset required", base("password reset required"));
export const premiumRequired = () =>
  new ApiError(402, "Requires Svc Premium license", base("Requires Svc Premium license"));
/** 402: the license key has expired. */
export const licenseRanOut = (expiration: string) => {
  const reason = `the license expired on ${expiration.slice(0, 10)}: premium settings and objects can be read, but not changed`;
  return new ApiError(402, "Requires Svc Premium license", base(reason));
};
/** 403 with a reason that the caller may see. */
export const forbiddenFor = (reason: string) => new ApiError(403, "forbidden", base(reason));
export const forbidden = () => new ApiError(403, "forbidden", base("forbidden"));
export const permissionDenied = () => new ApiError(403, "Permission Denied");
/** 404: the object does not exist, for example `notFound("host", 7)`. */
export const notFound = (kind: string, key: string | number, name = "base") =>
  new ApiError(404, "Resource Not Found", [{ name, reason: `${kind} ${key} was not found in the datastore` }]);
/** 404 with a reason, for things of which there is one at most. */
export const notThere = (reason: string) => new ApiError(404, "Resource Not Found", base(reason));
export const noSuchPath = (path: string) => new ApiError(404, "Resource Not Found", base(`no endpoint at ${path}`));
export const wrongMethod = (method: string, path: string, allow: readonly string[]) =>
  new ApiError(405, "Method Not Allowed", base(`${path} does not support the method ${method}`), { allow });
export const alreadyExists = (reason: string) => new ApiError(409, "Resource Already Exists", base(reason));
export const conflict = (reason: string) => new ApiError(409, "Conflict", base(reason));
/** 409: something has changed since the caller read it, or while the request was processed. */
export const changedMeanwhile = (...errors: FieldError[]) =>
  new ApiError(409, "Conflict", errors, { hasChanged: true });
export const hasChanged = (reason: string) => changedMeanwhile({ name: "base", reason });
/**
 * 409: the hosts that match differ from those that the caller has seen. The error names the header that the caller
 * sent.
 */
export const selectionMoved = (header: string, expected: string, actual: string) =>
  changedMeanwhile({ name: header, reason: `the selection changed: expected ${expected}, found ${actual}` });
/** 428: the server is configured to require this header (RFC 6585). */
export const preconditionRequired = (header: string) =>
  new ApiError(428, "Precondition Required", [
    { name: header, reason: `${header} is required: this server checks which hosts the request is meant for` },
  ]);
export const tooLarge = (limit: number) =>
  new ApiError(413, "Request Entity Too Large", base(`the body is larger than ${limit} bytes`));
/** 413: one part of the body is too large. The error names it. */
export const partTooLarge = (name: string, limit: number) =>
  new ApiError(413, "Request Entity Too Large", [{ name, reason: `${name} is larger than ${limit} bytes` }]);
export const rangeNotSatisfiable = (size: number) =>
  new ApiError(416, "Range Not Satisfiable", [{ name: "range", reason: `the content has ${size} bytes` }], { size });
export const tooSlow = () => new ApiError(408, "Request Timeout", base("the body came too slowly"));
export const unsupportedMediaType = (reason: string) => new ApiError(415, "Unsupported Media Type", base(reason));
export const limitExceeded = (seconds: number) => {
  const text = `limit exceeded, retry after: ${seconds}s`;
  return new ApiError(429, text, base(text), { retryAfter: seconds });
};
/** 429 of a budget: the reason describes the limit, and `seconds` is the time until the request may be retried. */
export const overBudget = (reason: string, seconds: number) =>
  new ApiError(429, reason, base(reason), { retryAfter: seconds });
export const unavailable = (reason: string) =>
  new ApiError(503, "Service Unavailable", base(reason), { retryAfter: 5 });
/** 507: there is no room for the file. */
export const insufficientStorage = (reason: string) => new ApiError(507, "Insufficient Storage", base(reason));
/** 413: the caller has stored as much as it may. */
export const quotaExceeded = (reason: string) => new ApiError(413, "Request Entity Too Large", base(reason));
/** 503: the server has too much to do at the moment. */
export const overloaded = (reason: string) =>
  new ApiError(503, "Service Unavailable", base(reason), { retryAfter: 5, isOverloaded: true });
/** 503: another server stored the content in a folder that this server cannot access. */
export const notOnThisServer = (what: string, whole: string) =>
  new ApiError(
    503,
    "Service Unavailable",
    base(
      `${what} cannot be read: this server does not have the file. Servers with one database must share the ` +
        `folder blobs of their data directories, or use a bucket (--blobs-url); or ask the server that received ${whole}`,
    ),
  );
export const upstreamFailed = (reason: string) => new ApiError(502, reason, base(reason));
/** 500 with a reason that the caller may see. Any other exception becomes a 500 without one. */
export const failed = (reason: string) => new ApiError(500, "Unknown Error", base(reason));
/** 500: a mail could not be sent. The reason is meant for an admin. */
export const mailError = (reason: string) => new ApiError(500, "Mail Error", base(reason));
