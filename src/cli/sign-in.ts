import { type Connection, defaultServerUrl } from "./settings.ts";

/** The context that a sign-in is saved under: the one in use, or one named after the server. */
export function contextNameFor(connection: Connection, flag: unknown): string {
  if (typeof flag === "string" && flag !== "") return flag;
  if (connection.contextName !== null) return connection.contextName;
  return connection.serverUrl === defaultServerUrl
    ? "local"
    : new URL(connection.serverUrl).host.replace(/[^\w.:@-]/g, "-");
}
