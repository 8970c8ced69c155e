import { ApiCallError, type FieldReason, Unreachable } from "../client/errors.ts";
import { isTlsError } from "../client/transport.ts";
import { type ExitName, exitCodes } from "./exit-codes.ts";
import { nearest } from "./suggest.ts";

/** An error of a command's own, with what the user can do about it. */
export class CliError extends Error {
  readonly kind: ExitName;
  readonly hint: string | undefined;
  readonly errors: readonly FieldReason[];

  constructor(kind: ExitName, message: string, hint?: string, errors: readonly FieldReason[] = []) {
    super(message);
    this.name = "CliError";
    this.kind = kind;
    this.hint = hint;
    this.errors = errors;
  }
}

export const usage = (message: string, hint?: string) => new CliError("usage", message, hint);
export const failed = (message: string, hint?: string) => new CliError("failed", message, hint);
export const notFound = (message: string, hint?: string) => new CliError("not_found", message, hint);
export const denied = (message: string, hint?: string) => new CliError("denied", message, hint);

/** An error as told: on one line with a hint below, or as JSON. */
export interface Told {
  code: ExitName;
  message: string;
  errors: readonly FieldReason[];
  hint: string | null;
  request_id: string | null;
}

const hasName = (error: Error, ...names: string[]) => names.includes(error.constructor.name);

export function tell(error: unknown): Told & { exitCode: number } {
  const told = describe(error);
  return { ...told, exitCode: exitCodeOf(error) ?? exitCodes[told.code].code };
}

/** An exit code that an error of oclif itself asks for: `this.exit(n)`. */
const exitCodeOf = (error: unknown): number | undefined => {
  if (!(error instanceof Error) || !("oclif" in error) || !hasName(error, "ExitError")) return undefined;
  return (error as { oclif?: { exit?: number } }).oclif?.exit;
};

function describe(error: unknown): Told {
  if (error instanceof CliError) {
    return told(error.kind, error.message, error.hint, error.errors);
  }
  if (error instanceof ApiCallError) return describeApiError(error);
  if (error instanceof Unreachable) {
    const hint = isTlsError(error.code)
      ? "Trust its certificate with --ca-file FILE, or, for tests only, take any with --insecure."
      : error.code === "NOT_JSON"
        ? "Check the address: --server-url, SVC_SERVER_URL, or the context (svc context show)."
        : "Is the server running? `svc doctor` looks for the reason; --server-url names another server.";
    return told("unreachable", error.message, hint);
  }
  if (!(error instanceof Error)) return told("failed", String(error));
  // The names that @inquirer/prompts gives to Ctrl-C at a prompt, and fetch to an aborted call.
  if (hasName(error, "ExitPromptError", "AbortPromptError") || error.name === "AbortError") {
    return told("interrupted", "interrupted");
  }
  if ("oclif" in error) return describeParseError(error);
  return told("failed", error.message || error.name, undefined);
}

function told(code: ExitName, message: string, hint?: string, errors: readonly FieldReason[] = [], id?: string): Told {
  return { code, message, errors, hint: hint ?? null, request_id: id ?? null };
}

function describeApiError(error: ApiCallError): Told {
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
      ? "Sign in with `svc login`, or set SVC_API_TOKEN."
      : status === 402
        ? "The server's license does not include this; `svc status` shows the tier."
        : status === 403
          ? "`svc can-i` lists what your role allows."
          : status === 409 || status === 412
            ? "Read the present state, then try again."
            : status === 429
              ? `Try again${error.retryAfter === undefined ? " later" : ` in ${error.retryAfter} s`}.`
              : status === 503
                ? "The server is overloaded or its store does not answer; try again soon."
                : status >= 500
                  ? `The server's log has the cause${error.requestId ? ` under ${error.requestId}` : ""}.`
                  : undefined;
  return told(code, error.message, hint, error.errors, error.requestId);
}

/** Errors of oclif's parser say more than one line: the first says what, the rest is help. */
function describeParseError(error: Error): Told {
  const lines = error.message.split("\n").filter((line) => line.trim() !== "" && !line.startsWith("See more help"));
  const message =
    hasName(error, "RequiredArgsError") && "args" in error
      ? `missing ${(error.args as { name: string }[]).map(({ name }) => name.toUpperCase()).join(" and ")}`
      : lines.map((line) => line.trim()).join(" ");
  const [, flag = "", given = "", values = ""] =
    /^Expected (?:(--[\w-]+)=)?(.*) to be one of: (.*)$/.exec(message) ?? [];
  if (values === "") return told("usage", message, "See the command's --help.");
  const near = nearest(given, values.split(", "));
  const what = flag === "" ? given : `${flag}: ${given}`;
  return told("usage", `${what} is none of its values${near ? `; did you mean ${near}?` : ""}`, `One of: ${values}`);
}

export function renderError(
  error: unknown,
  io: { json: boolean; red: (text: string) => string; debug: boolean },
): string {
  const { exitCode: _, ...told } = tell(error);
  if (io.json) return `${JSON.stringify({ error: told })}\n`;
  const reasons = told.errors
    .filter(({ reason }) => reason !== "" && reason !== told.message)
    .map(({ name, reason }) => (name === "base" || name === "" ? reason : `${name}: ${reason}`));
  const first = `${io.red("Error:")} ${[told.message, ...reasons].join(": ").replaceAll("\n", " ")}\n`;
  const hint = told.hint === null ? "" : `${told.hint}\n`;
  const stack = io.debug && error instanceof Error ? `${error.stack}\n` : "";
  return first + hint + stack;
}
