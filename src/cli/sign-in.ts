import { type Connection, defaultServerUrl } from "./settings.ts";

/** The token of a mailed link: pasted alone, or with all of the link around it. */
export function linkToken(pasted: string): string {
  const text = pasted.trim();
  return /\/(?:login\/(?:mfa|reset)|email\/change)\/([^/?#\s]+)/.exec(text)?.[1] ?? text;
}

/** The context that a sign-in is saved under: the one in use, or one named after the server. */
export function contextNameFor(connection: Connection, flag: unknown): string {
  if (typeof flag === "string" && flag !== "") return flag;
  if (connection.contextName !== null) return connection.contextName;
  return connection.serverUrl === defaultServerUrl
    ? "local"
    : new URL(connection.serverUrl).host.replace(/[^\w.:@-]/g, "-");
}
