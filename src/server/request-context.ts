// A request before its body is read, however it arrived, and the context that its handler gets.
import type { Socket } from "node:net";
import { CONSOLE_HEADER } from "../api/console.ts";
import type { Access } from "../api/endpoint.ts";
import { authenticate } from "./accounts/sessions/auth.ts";
import { hostOfKey, nodeKeyIn } from "./certificates/host-authentication/node-key.ts";
import { signingHost } from "./certificates/host-authentication/signed-requests.ts";
import { consoleViewer } from "./edge/web/browser-session.ts";
import { type Context, nobody, type Services } from "./platform/core/context.ts";
import { authenticationRequired } from "./platform/core/errors.ts";
import { clientCertificate } from "./platform/core/http/client-certificate.ts";
import { callerOf, isTrustedProxy } from "./platform/core/http/proxies.ts";
import { EACH, strangerCost } from "./platform/core/http/strangers.ts";

export interface RequestParts {
  /** The request's id in the reply and in the log. */
  readonly id: string;
  readonly method: string;
  readonly path: string;
  /** The query with its question mark, or nothing. */
  readonly search: string;
  readonly url: () => URL;
  readonly headers: { get(name: string): string | null; has(name: string): boolean };
  /** The address of the other end of the connection. */
  readonly peer: string;
  /** Absent where there is no connection, as in tests. */
  readonly socket: Socket | undefined;
}

/** If an endpoint needs no token, an invalid one is ignored: a client that signs in again may still send its old one. */
export async function contextOf(services: Services, parts: RequestParts, access: Access): Promise<Context> {
  const { id: requestId, headers, socket } = parts;
  const caller = callerOf(services, parts.peer, headers);
  const header = access === "none" ? null : headers.get("authorization");
  const key = header !== null && typeof access === "object" && access.nodeKey ? nodeKeyIn(header) : null;
  const isConsole = header === null && access !== "none" && headers.has(CONSOLE_HEADER);
  const user = isConsole
    ? await consoleViewer(services, headers)
    : header === null || key !== null
      ? nobody
      : await authenticate(services, header);
  if (user === null) {
    strangerCost(services, caller).charge(EACH);
    throw authenticationRequired();
  }
  // Written out: copying the services into an object that then grows takes several times as long.
  const ctx: Context = {
    settings: services.settings,
    store: services.store,
    blobs: services.blobs,
    clock: services.clock,
    random: services.random,
    log: services.log,
    metrics: services.metrics,
    config: services.config,
    license: services.license,
    setupToken: services.setupToken,
    extensions: services.extensions,
    running: services.running,
    dryRun: services.dryRun,
    user,
    address: caller.address,
    forwarded: caller.forwarded,
    requestId,
    headers,
    cost: access === "none" ? strangerCost(services, caller) : undefined,
    requested: { method: parts.method, path: parts.path, query: parts.search },
    clientCertificate: () => clientCertificate(services.settings, socket, headers),
    proxyHeader: (name) => (isTrustedProxy(services.settings, socket?.remoteAddress ?? "") ? headers.get(name) : null),
  };
  if (key !== null) return { ...ctx, host: await hostOfKey(ctx, key) };
  const maySign = header === null && !isConsole && typeof access === "object" && access.hostSignature === true;
  const host = maySign ? await signingHost(ctx) : null;
  if (host !== null) return { ...ctx, host };
  if (access !== "none" && header === null && !isConsole) strangerCost(services, caller).charge(EACH);
  return ctx;
}
