import { ApiCallError, type FieldReason, NotInPath, Unreachable } from "../client/errors.ts";
import { isCertificateError, isNotTls, isTlsError } from "../client/transport.ts";
import { durationText } from "../text/duration.ts";
import { GITOPS_MODE_IS_ON } from "../text/gitops-mode.ts";
import { type ExitName, exitCodes } from "./exit-codes.ts";
import { wrongOf } from "./parse-errors.ts";

/** An error raised by a command, with a hint for the user. */
export class CliError extends Error {
  readonly kind: ExitName;
  readonly hint: string | undefined;
  readonly errors: readonly FieldReason[];
  /** The uuid under which the server logged it, if it is an error of the server. */
  readonly requestId: string | undefined;

  constructor(
    kind: ExitName,
    message: string,
    hint?: string,
    errors: readonly FieldReason[] = [],
    requestId: string | undefined = undefined,
  ) {
    super(message);
    this.name = "CliError";
    this.kind = kind;
    this.hint = hint;
    this.errors = errors;
    this.requestId = requestId;
  }
}

export const usage = (message: string, hint?: string) => new CliError("usage", message, hint);
export const failed = (message: string, hint?: string) => new CliError("failed", message, hint);
export const notFound = (message: string, hint?: string) => new CliError("not_found", message, hint);
export const denied = (message: string, hint?: string) => new CliError("denied", message, hint);

/** A rendered error: printed on one line with a hint below, or as JSON. */
export interface ErrorReport {
  code: ExitName;
  message: string;
  errors: readonly FieldReason[];
  hint: string | null;
  request_id: string | null;
}

const hasName = (error: Error, ...names: string[]) => names.includes(error.constructor.name);

export function errorReport(error: unknown): ErrorReport & { exitCode: number } {
  const report = describe(error);
  return { ...report, exitCode: exitCodeOf(error) ?? exitCodes[report.code].code };
}

/** The exit code that an ExitError of oclif requests: `this.exit(n)`. */
const exitCodeOf = (error: unknown): number | undefined => {
  if (!(error instanceof Error) || !("oclif" in error) || !hasName(error, "ExitError")) return undefined;
  return (error as { oclif?: { exit?: number } }).oclif?.exit;
};

function describe(error: unknown): ErrorReport {
  if (error instanceof CliError) {
    return report(error.kind, error.message, error.hint, error.errors, error.requestId);
  }
  if (error instanceof ApiCallError) return describeApiError(error);
  if (error instanceof NotInPath) return report(error.value === "" ? "usage" : "not_found", error.message);
  if (error instanceof Unreachable) {
    return report("unreachable", error.message, hintOfUnreachable(error));
  }
  if (!(error instanceof Error)) return report("failed", String(error));
  // The error names that @inquirer/prompts uses for Ctrl-C at a prompt, and fetch for an aborted call.
  if (hasName(error, "ExitPromptError", "AbortPromptError") || error.name === "AbortError") {
    return report("interrupted", "interrupted");
  }
  if ("oclif" in error) return describeParseError(error);
  if ("code" in error && "path" in error && "syscall" in error)
    return report(
      "failed",
      `${error.path} cannot be ${error.syscall === "open" ? "opened" : "accessed"} (${error.code})`,
    );
  return report("failed", error.message || error.name, undefined);
}

function hintOfUnreachable({ code, url }: Unreachable): string {
  if (isNotTls(code))
    return `Use http:// in the address (--server-url ${new URL(url).origin.replace("https:", "http:")}, or the context), or start the server with TLS.`;
  if (code === "CERT_HAS_EXPIRED" || code === "CERT_NOT_YET_VALID")
    return "Renew the certificate of the server, and check the clocks of both machines.";
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID" || code === "HOSTNAME_MISMATCH")
    return "Use a name in the address that the certificate has, or give the server a certificate for this name.";
  if (isCertificateError(code))
    return "Trust its certificate with --ca-file FILE, or, only for tests, accept any certificate with --insecure.";
  if (isTlsError(code))
    return "Check the address and what listens there: it may need a client certificate, or another version of TLS.";
  if (code === "NOT_JSON") return "Check the address: --server-url, SVC_SERVER_URL, or the context (svc context show).";
  // A server with TLS closes the connection of a client without.
  if (url.startsWith("http:") && (code === "UND_ERR_SOCKET" || code === "ECONNRESET" || code?.startsWith("HPE_")))
    return "Does the server there speak TLS? Then use https:// in the address: --server-url, or the context.";
  return "Is the server running? `svc doctor` finds the reason; --server-url selects another server.";
}

function report(
  code: ExitName,
  message: string,
  hint?: string,
  errors: readonly FieldReason[] = [],
  id?: string,
): ErrorReport {
  return { code, message, errors, hint: hint ?? null, request_id: id ?? null };
}

/** Whether the server does not know the token of the request, as opposed to a token of a device or a password. */
export const isTokenRefused = ({ status, message, isSsoRequired, endpoint }: ApiCallError): boolean =>
  status === 401 && message === "Authentication required" && !isSsoRequired && endpoint?.access !== "none";

/** The error for such a token; `name`: where it is from, such as `SVC_API_TOKEN` or `the context local`. */
export function tokenRefused(name: string, { requestId }: ApiCallError): CliError {
  const hint = name.startsWith("SVC_")
    ? `Set ${name} to a valid token, or unset it to use the sign-in of \`svc login\`.`
    : name.startsWith("--")
      ? "An admin can create a token: see `svc tokens create --help`."
      : "Sign in again with `svc login`.";
  return new CliError("denied", `the token of ${name} is not valid or has expired`, hint, [], requestId);
}

/** Whether the reply has no cause of its own, such as that no mail server is configured, but refers to the log. */
const isUnexplained = ({ errors }: ApiCallError): boolean =>
  errors.every(({ reason }) => reason === "" || reason.startsWith("internal error"));

function describeApiError(error: ApiCallError): ErrorReport {
  const { status } = error;
  const code: ExitName =
    status === 401 || status === 402 || status === 403
      ? "denied"
      : status === 404
        ? "not_found"
        : status === 409 || status === 412
          ? "conflict"
          : "failed";
  const hint =
    status === 401
      ? error.message === "password reset required"
        ? "Choose a new password with `svc users password --required`."
        : "Sign in with `svc login`, or set SVC_API_TOKEN."
      : status === 402
        ? "The server's license does not include this; `svc status` shows the tier."
        : status === 403
          ? hintOfDenied(error)
          : status === 413 && error.errors.length === 0
            ? "A proxy in front of the server refuses requests of this size: allow more there, as docs/proxies.md shows."
            : status === 412 || error.hasChanged
              ? "Read the current state, then try again."
              : status === 429
                ? `Try again${error.retryAfter === undefined ? " later" : ` in ${durationText(error.retryAfter)}`}.`
                : status === 503
                  ? hintOfUnavailable(error)
                  : status >= 500 && isUnexplained(error)
                    ? `The cause is in the server's log${error.requestId ? `, with the id ${error.requestId}` : ""}.`
                    : undefined;
  const required = status === 403 && !hasOwnReason(error) ? requiredBy(error) : null;
  const message =
    required === null
      ? error.message
      : `${error.message}: this requires ${required.action}${required.scope === "global" ? " with a global role" : ""}`;
  const errors = required === null ? error.errors : [];
  return report(code, message, hint, errors, error.requestId);
}

/** Whether the server gives a reason for a refusal, as opposed to a role that does not suffice. */
const hasOwnReason = ({ message, errors }: ApiCallError): boolean =>
  errors.some(({ reason }) => reason !== "" && reason !== message);

/** The action that the endpoint requires; null if it is not known. */
const requiredBy = ({ endpoint }: ApiCallError) =>
  endpoint === undefined || typeof endpoint.access === "string" ? null : endpoint.access;

function hintOfDenied(error: ApiCallError): string | undefined {
  if (error.message === GITOPS_MODE_IS_ON)
    return "Set SVC_GITOPS_OVERRIDE to the reason to change it here nevertheless.";
  if (hasOwnReason(error)) return undefined;
  const required = requiredBy(error);
  return required === null
    ? "`svc can-i` lists what your role allows."
    : `\`svc can-i ${required.action}\` checks it, \`svc can-i\` lists what your role allows. An admin can change it.`;
}

/** The reason of the server explains the rest: that its database does not respond, for example. */
const hintOfUnavailable = ({ isOverloaded, retryAfter, errors }: ApiCallError): string | undefined => {
  if (isOverloaded)
    return `The server is overloaded; try again${retryAfter === undefined ? " soon" : ` in ${durationText(retryAfter)}`}.`;
  if (errors.length > 0) return undefined;
  return "The server, or a proxy before it, cannot serve requests now; try again soon.";
};

function describeParseError(error: Error): ErrorReport {
  const { message, hint } = wrongOf(error);
  return report("usage", message, hint ?? "See the command's --help.");
}

/** Messages with which the API classifies errors: the reasons below them say more. */
const API_HEADLINES: ReadonlySet<string> = new Set(["Bad request", "Validation Failed", "Resource Not Found"]);

/** Whether the reason begins with the name of the field: `Invalid where: column 1 ...`. */
const isNamed = (name: string, reason: string): boolean =>
  ["Invalid", "Missing", "Param"].some((word) => reason.startsWith(`${word} ${name}`));

export function renderError(
  error: unknown,
  io: { json: boolean; red: (text: string) => string; debug: boolean },
): string {
  const { exitCode: _, ...report } = errorReport(error);
  if (io.json) return `${JSON.stringify({ error: report })}\n`;
  const reasons = report.errors
    .filter(({ reason }) => reason !== "" && reason !== report.message)
    .map(({ name, reason }) =>
      name === "base" || name === "" || isNamed(name, reason) ? reason : `${name}: ${reason}`,
    );
  const headline = reasons.length > 0 && API_HEADLINES.has(report.message) ? [] : [report.message];
  const text = [...headline, ...(reasons.length > 0 ? [reasons.join("; ")] : [])].join(": ");
  const first = `${io.red("Error:")} ${text.replaceAll("\n", " ")}\n`;
  const hint = report.hint === null ? "" : `${report.hint}\n`;
  const stack = io.debug && error instanceof Error ? `${error.stack}\n` : "";
  return first + hint + stack;
}
