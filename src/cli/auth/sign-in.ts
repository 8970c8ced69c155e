import { type Connection, defaultServerUrl } from "./connection.ts";

/** The token from a mailed link; accepts the token alone or the whole link. */
export function linkToken(pasted: string): string {
  const text = pasted.trim();
  return /\/(?:login\/(?:mfa|reset)|email\/change)\/([^/?#\s]+)/.exec(text)?.[1] ?? text;
}

/** The name of the context that a sign-in is saved in: the current one, or one named after the server. */
export function contextNameFor(connection: Connection, flag: unknown): string {
  if (typeof flag === "string" && flag !== "") return flag;
  if (connection.contextName !== null) return connection.contextName;
  return connection.serverUrl === defaultServerUrl
    ? "local"
    : new URL(connection.serverUrl).host.replace(/[^\w.:@-]/g, "-");
}
