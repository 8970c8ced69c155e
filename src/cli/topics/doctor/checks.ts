// The checks of `svc doctor`, each with a hint for the case that it fails.
import { lookup } from "node:dns/promises";
import { DirectoryConnection } from "../../../api/automations/conditional-access.ts";
import { AppleStatus } from "../../../api/devices/apple-trust.ts";
import { UNTRUSTED_PROXY } from "../../../api/warnings.ts";
import { ApiClient, type RawReply } from "../../../client/client.ts";
import { Unreachable } from "../../../client/errors.ts";
import { isCertificateError } from "../../../client/transport.ts";
import { plural } from "../../../text/plural.ts";
import { type Connection, type ConnectionFlags, resolveConnection } from "../../auth/connection.ts";
import { contextsFile, listContexts } from "../../auth/contexts.ts";
import { probeKeyring, tokenFile } from "../../auth/tokens.ts";
import { errorReport } from "../../errors.ts";
import { isExposed } from "../../files/private-file.ts";
import type { Io } from "../../io.ts";
import { enrolledElsewhere, SET_IT_BACK } from "../mdm/enrolled-elsewhere.ts";
import { healthWarnings } from "./health.ts";

export interface Check {
  readonly check: string;
  readonly status: "ok" | "warning" | "failed" | "skipped";
  readonly detail: string;
  readonly hint: string;
}

const ok = (check: string, detail: string): Check => ({ check, status: "ok", detail, hint: "" });
const bad = (check: string, detail: string, hint: string): Check => ({ check, status: "failed", detail, hint });
const warning = (check: string, detail: string, hint: string): Check => ({ check, status: "warning", detail, hint });
const skipped = (check: string, detail: string): Check => ({ check, status: "skipped", detail, hint: "" });

export async function examine(io: Io, flags: ConnectionFlags, version: string): Promise<Check[]> {
  const checks: Check[] = [node(), await keyring(io), await exposure(io)];
  let connection: Connection;
  try {
    const { current } = await listContexts(io);
    connection = await resolveConnection(io, flags);
    checks.push(
      ok("settings", `${connection.serverUrl} (${connection.source}); current context: ${current ?? "none"}`),
    );
  } catch (error) {
    const { message, hint } = errorReport(error);
    return [...checks, bad("settings", message, hint ?? `Repair ${contextsFile(io.env)}.`)];
  }
  const address = await resolves(connection.serverUrl, io);
  checks.push(address);
  if (address.status === "failed")
    return [...checks, skipped("connection", "no address"), skipped("sign-in", "no address")];
  return [...checks, ...(await server(io, connection, version))];
}

function node(): Check {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const enough = major > 20 || (major === 20 && minor >= 19);
  return enough ? ok("node", process.version) : bad("node", process.version, "Node 20.19 or newer is needed.");
}

async function keyring(io: Io): Promise<Check> {
  const why = await probeKeyring(io);
  if (why === null) return ok("keyring", "answers");
  return warning("keyring", why, `Tokens are stored in ${tokenFile(io.env)}, readable only by you.`);
}

async function exposure(io: Io): Promise<Check> {
  const file = tokenFile(io.env);
  if (await isExposed(file)) return bad("token file", `other users can read ${file}`, `chmod 600 ${file}`);
  return ok("token file", "private, or not needed");
}

async function resolves(serverUrl: string, io: Io): Promise<Check> {
  const { hostname } = new URL(serverUrl);
  if (io.send) return skipped("address", "requests do not leave this process");
  try {
    const { address } = await lookup(hostname.replace(/^\[|\]$/g, ""));
    return ok("address", hostname === address ? address : `${hostname} is ${address}`);
  } catch {
    return bad("address", `the name ${hostname} cannot be resolved`, "Check --server-url, the context, and DNS.");
  }
}

async function server(io: Io, connection: Connection, version: string): Promise<Check[]> {
  const { serverUrl, ca, insecure, timeout } = connection;
  let token: string | null = null;
  let tokenError: Check | null = null;
  try {
    token = await connection.token();
  } catch (error) {
    tokenError = bad(
      "sign-in",
      `the token cannot be read: ${errorReport(error).message}`,
      "Sign in again with `svc login`.",
    );
  }
  let serverVersion: string | null = null;
  const client = new ApiClient({
    serverUrl,
    ...(token === null ? {} : { token }),
    userAgent: `svc/${version}`,
    timeout: Math.min(timeout, 10_000),
    tls: { insecure, ...(ca === null ? {} : { ca }) },
    ...(io.send === undefined ? {} : { send: io.send }),
    sleep: (ms, signal) => io.sleep(ms, signal),
    onServerVersion: (version) => {
      serverVersion = version;
    },
  });
  const https = serverUrl.startsWith("https:");
  const checks: Check[] = [];
  let date: string | null;
  try {
    const health = await client.raw("GET", "/healthz");
    date = health.headers.get("date");
    checks.push(ok("connection", serverUrl));
    if (https) {
      checks.push(
        insecure
          ? warning("certificate", "not checked", "Trust the certificate with --ca-file, and remove --insecure.")
          : ok("certificate", ca === null ? "trusted" : "trusted through your own authorities"),
      );
    }
    checks.push(healthOf(health));
  } catch (error) {
    const code = error instanceof Unreachable ? error.code : undefined;
    const { message, hint } = errorReport(error);
    const what = isCertificateError(code) ? "certificate" : "connection";
    const advice =
      code === "ECONNREFUSED" ? "Start it with `svc serve`, or check --server-url and firewalls." : (hint ?? "");
    return [...checks, bad(what, message, advice), skipped("sign-in", "no connection")];
  }
  checks.push(clock(date, io.now()));
  checks.push(...(tokenError ? [tokenError] : await signIn(client, token)));
  checks.push(versions(serverVersion, version));
  return checks;
}

function healthOf({ status, text }: RawReply): Check {
  if (status !== 200) return bad("health", `${status} ${text.slice(0, 200)}`, "The cause is in the server's log.");
  const warnings = healthWarnings(text);
  if (warnings.length === 0) return ok("health", "ok");
  return warning(
    "health",
    warnings.join("; "),
    "Files cannot be uploaded or downloaded until the bucket works: check it, and --blobs-url of the server.",
  );
}

function clock(date: string | null, now: Date): Check {
  const at = date === null ? Number.NaN : Date.parse(date);
  if (Number.isNaN(at)) return skipped("clock", "the server does not report its time");
  const skew = Math.round((now.getTime() - at) / 1000);
  const detail = `${Math.abs(skew)} s ${skew < 0 ? "behind" : "ahead of"} the server`;
  return Math.abs(skew) <= 60
    ? ok("clock", Math.abs(skew) <= 2 ? "same as the server's" : detail)
    : warning("clock", detail, "Synchronize both clocks with NTP.");
}

async function signIn(client: ApiClient, token: string | null): Promise<Check[]> {
  if (token === null) return [warning("sign-in", "not signed in", "Sign in with `svc login`.")];
  const { status, text, headers } = await client.raw("GET", "/api/v1/svc/me");
  if (status === 200) {
    const { user } = JSON.parse(text) as { user?: { email?: string; global_role?: string | null } };
    const signedIn = ok("sign-in", user?.email ?? "signed in");
    if (!user?.global_role) return [signedIn];
    const checks = [...(await deviceManagement(client)), ...(await directoryReports(client))];
    return [signedIn, proxy(headers.get("x-svc-warning")), ...checks];
  }
  return [bad("sign-in", `the server does not accept the token (${status})`, "Sign in again with `svc login`.")];
}

function proxy(warningHeader: string | null): Check {
  if (warningHeader !== UNTRUSTED_PROXY) return ok("proxy", "no untrusted proxy");
  return warning(
    "proxy",
    "a proxy on the server's machine forwards requests but is not trusted: limits count all its callers as one address",
    "Add the proxy's address to --trusted-proxies of the server, such as 127.0.0.1.",
  );
}

/** The certificates of device management; nothing if none exists, if the user may not see them, or on another version. */
async function deviceManagement(client: ApiClient): Promise<Check[]> {
  const { status, text } = await client.raw("GET", "/api/v1/svc/mdm/vendora/status");
  if (status !== 200) return [];
  const shown = AppleStatus.pick({ expiring: true, devices_to_enroll_again: true });
  const parsed = shown.partial({ devices_to_enroll_again: true }).safeParse(JSON.parse(text));
  if (!parsed.success) return [];
  const { expiring, devices_to_enroll_again: lost = 0 } = parsed.data;
  const elsewhere = lost === 0 ? [] : [warning("enrolled Apple devices", enrolledElsewhere(lost), SET_IT_BACK)];
  const ends = expiring.map(({ name, not_valid_after: end, days_left: left, soon }) => {
    const detail = `${left < 0 ? "ended" : "ends"} on ${end.slice(0, 10)}`;
    if (!soon) return ok(name, detail);
    const hint = "Renew it in time, or devices must enroll again: see docs/operations.md.";
    return left < 0 ? bad(name, detail, hint) : warning(name, detail, hint);
  });
  return [...ends, ...elsewhere];
}

/** Whether the directory accepts what is reported of devices; nothing if none is connected, or the user may not see it. */
async function directoryReports(client: ApiClient): Promise<Check[]> {
  const { status, text } = await client.raw("GET", "/api/v1/svc/conditional-access/directory");
  if (status !== 200) return [];
  const parsed = DirectoryConnection.safeParse(JSON.parse(text));
  if (!parsed.success || !parsed.data.connected) return [];
  const { devices, last_error: error } = parsed.data;
  const reported = devices.compliant + devices.noncompliant;
  const check = "conditional access";
  if (error !== "")
    return [
      warning(check, error, "`svc conditional-access status` shows when it is tried again: see docs/operations.md."),
    ];
  if (devices.failing > 0) {
    const hint = "`svc conditional-access host HOST` shows why: see docs/operations.md.";
    return [
      warning(check, `${plural(devices.failing, "device is", "devices are")} not reported to the directory`, hint),
    ];
  }
  return [ok(check, `${plural(reported, "device is", "devices are")} reported to the directory`)];
}

function versions(server: string | null, client: string): Check {
  if (server === null)
    return skipped("version", `this client has version ${client}; the server does not report its version`);
  const same = server.split(".").slice(0, 2).join(".") === client.split(".").slice(0, 2).join(".");
  const detail = `client ${client}, server ${server}`;
  return same ? ok("version", detail) : warning("version", detail, "Install the same version on both.");
}
