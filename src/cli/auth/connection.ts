// Server, credentials and trust of a run. Precedence: flag, environment, context, default.
import { usage } from "../errors.ts";
import { textOf } from "../files/file-errors.ts";
import type { Io } from "../io.ts";
import { wholeSeconds } from "../output/text.ts";
import { contextToken, findContext } from "./contexts.ts";

export const defaultServerUrl = "http://127.0.0.1:8412";

export interface ConnectionFlags {
  readonly "server-url"?: string | undefined;
  readonly context?: string | undefined;
  readonly "ca-file"?: string | undefined;
  readonly insecure?: boolean | undefined;
  readonly "request-timeout"?: number | undefined;
}
export type Source = "flag" | "environment" | "context" | "default";
export interface Connection {
  readonly serverUrl: string;
  readonly source: Source;
  /** The context that the address came from, if any. */
  readonly contextName: string | null;
  readonly email: string | null;
  readonly ca: string | null;
  readonly insecure: boolean;
  /** In milliseconds. */
  readonly timeout: number;
  readonly tokenSource: Source | null;
  /** Where the token is from, in words: `SVC_API_TOKEN`, `the context local`. */
  readonly tokenName: string | null;
  /** Read once, and only when needed, because a keyring may be slow. */
  readonly token: () => Promise<string | null>;
}

const nonEmpty = (value: string | undefined): string | undefined =>
  value === undefined || value === "" ? undefined : value;

export function checkServerUrl(text: string, from: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (
    url === null ||
    (url.protocol !== "http:" && url.protocol !== "https:") ||
    url.username ||
    url.search ||
    url.hash
  ) {
    throw usage(
      `${from}: ${text} is not the URL of a server`,
      "Examples: https://svc.example.com, http://127.0.0.1:8412.",
    );
  }
  return url.href.replace(/\/+$/, "");
}

export async function resolveConnection(io: Pick<Io, "env" | "keyring">, flags: ConnectionFlags): Promise<Connection> {
  const { env } = io;
  const flagUrl = nonEmpty(flags["server-url"]);
  // --context is explicit, so it also takes precedence over an address or token in the environment.
  const byFlag = nonEmpty(flags.context) !== undefined;
  const envUrl = byFlag ? undefined : nonEmpty(env.SVC_SERVER_URL);
  const selected = await findContext(io, nonEmpty(flags.context) ?? nonEmpty(env.SVC_CONTEXT));
  const contextUrl = selected && checkServerUrl(selected.context.server_url, `context ${selected.name}`);
  const explicit =
    flagUrl === undefined
      ? envUrl === undefined
        ? null
        : ({ url: checkServerUrl(envUrl, "SVC_SERVER_URL"), source: "environment" } as const)
      : ({ url: checkServerUrl(flagUrl, "--server-url"), source: "flag" } as const);
  const serverUrl = explicit?.url ?? contextUrl ?? defaultServerUrl;

  // A context's data, above all its token, is only used with its own server.
  const context = selected && contextUrl === serverUrl ? selected : null;
  const envToken = byFlag ? undefined : nonEmpty(env.SVC_API_TOKEN);
  const envTokenFile = byFlag ? undefined : nonEmpty(env.SVC_API_TOKEN_FILE);
  const caFile = nonEmpty(flags["ca-file"]) ?? nonEmpty(env.SVC_CA_FILE);
  const readToken = async (): Promise<string | null> => {
    if (envToken !== undefined) return envToken.trim();
    if (envTokenFile !== undefined) return (await textOf(envTokenFile, "SVC_API_TOKEN_FILE")).trim();
    return context === null ? null : contextToken(io, context.name, context.context);
  };
  let token: Promise<string | null> | undefined;
  const fromEnv = envToken !== undefined || envTokenFile !== undefined;
  return {
    serverUrl,
    source: explicit?.source ?? (contextUrl ? "context" : "default"),
    contextName: context?.name ?? null,
    email: fromEnv ? null : (context?.context.email ?? null),
    ca: caFile === undefined ? (context?.context.ca ?? null) : await readCa(caFile),
    insecure: flags.insecure ?? (isTrue(env.SVC_INSECURE) || (context?.context.insecure ?? false)),
    timeout: 1000 * (flags["request-timeout"] ?? seconds(env.SVC_REQUEST_TIMEOUT) ?? 30),
    tokenSource: fromEnv ? "environment" : context?.context.token_in ? "context" : null,
    tokenName:
      envToken !== undefined
        ? "SVC_API_TOKEN"
        : envTokenFile !== undefined
          ? "SVC_API_TOKEN_FILE"
          : context?.context.token_in
            ? `the context ${context.name}`
            : null,
    token() {
      token ??= readToken();
      return token;
    },
  };
}

export const isTrue = (value: string | undefined) => value === "1" || value === "true";

function seconds(value: string | undefined): number | undefined {
  if (nonEmpty(value) === undefined) return undefined;
  const number = wholeSeconds(String(value));
  if (number === null || number <= 0)
    throw usage(`SVC_REQUEST_TIMEOUT: ${value} is not a number of seconds`, "Examples: 30, 30s, 5m.");
  return number;
}

async function readCa(path: string): Promise<string> {
  const pem = await textOf(path, "--ca-file");
  if (!pem.includes("-----BEGIN CERTIFICATE-----")) throw usage(`--ca-file: ${path} contains no PEM certificate`);
  return pem;
}
