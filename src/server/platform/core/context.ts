import type { Logger } from "pino";
import type { Roles } from "../../../api/access.ts";
import type { ConfigSections, License } from "../../../api/settings/app-config.ts";
import type { Blobs } from "../store/blobs/blobs.ts";
import type { Clock } from "./clock.ts";
import type { Extensions } from "./extensions.ts";
import type { DryRun } from "./http/dry-run.ts";
import type { Caller } from "./http/proxies.ts";
import type { StrangerCost } from "./http/strangers.ts";
import type { Metrics } from "./logging/metrics.ts";
import type { Random } from "./random.ts";
import type { Running } from "./running.ts";
import type { Settings } from "./settings/settings.ts";
import type { ServerStore, ServerTx } from "./tables.ts";

/** The caller: a signed-in user, nobody (no token), or the service itself (jobs), which may do everything. */
export interface Viewer extends Roles {
  readonly kind: "user" | "nobody" | "service";
  readonly id: number;
  readonly name: string;
  readonly email: string;
  readonly gravatar_url: string;
  readonly api_only: boolean;
  readonly force_password_reset: boolean;
  /** The session whose token was used, or 0 if none was. */
  readonly session_id: number;
  /** The name of the API token that was used; empty for sessions. */
  readonly token_name: string;
  /** The endpoints that the token is limited to, such as `GET /hosts`; null if it is not limited. */
  readonly token_endpoints: readonly string[] | null;
}

export const nobody: Viewer = {
  kind: "nobody",
  id: 0,
  name: "",
  email: "",
  gravatar_url: "",
  api_only: false,
  force_password_reset: false,
  session_id: 0,
  token_name: "",
  token_endpoints: null,
  global_role: null,
  teams: [],
};
export const service: Viewer = { ...nobody, kind: "service", name: "svc" };

/** Reads the organization's configuration. Cached in memory; reloaded after any server has changed it. */
export interface ConfigReader {
  current(): Promise<ConfigSections>;
  /** A reader without a cache that reads through `store`, for example inside a transaction. */
  over(store: ServerTx): ConfigReader;
}

/** Objects that exist as long as the server runs. */
export interface Services {
  readonly settings: Settings;
  readonly store: ServerStore;
  readonly blobs: Blobs;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly config: ConfigReader;
  readonly license: License;
  /** Allows POST /setup from another machine. Logged at startup while no user exists. */
  readonly setupToken: string;
  /** What features do for others that do not know them. */
  readonly extensions: Extensions;
  /** What the server keeps in memory. */
  readonly running: Running;
  /** Set during a dry run: nothing may leave the server, now or later. */
  readonly dryRun: DryRun | null;
}

/**
 * The argument of services: the server's objects, the caller and its address. Inside a transaction, `store` is the
 * transaction's.
 */
export interface Context extends Omit<Services, "store">, Caller {
  readonly store: ServerTx;
  readonly user: Viewer;
  readonly requestId: string;
  /** The request's headers; absent for work that the server starts itself. */
  readonly headers?: { get(name: string): string | null };
  /** What the request was for; absent as well. `query` has its question mark. */
  readonly requested?: { readonly method: string; readonly path: string; readonly query: string };
  /** The certificate that the client has presented in DER, or null; nothing of it is verified. */
  readonly clientCertificate?: () => Buffer | null;
  /** A header that a trusted proxy has set; null for requests that did not come through one. */
  readonly proxyHeader?: (name: string) => string | null;
  /** What the request costs; only on endpoints that may be called without a token, where the handler finds out who calls. */
  readonly cost?: StrangerCost | undefined;
  /** The host that authenticated with its own key, on endpoints that allow this; `user` is then nobody. */
  readonly host?: { readonly id: number; readonly team_id: number | null };
}

/** The context with the store of a transaction. */
export const within = (ctx: Context, store: ServerTx): Context => ({ ...ctx, store });

/** A context for work that the server starts itself. */
export const serviceContext = (services: Services, requestId = "job"): Context => ({
  ...services,
  user: service,
  address: "",
  requestId,
});

/** With an expired key, premium data can still be read, but changes are refused. */
export const licenseExpired = ({ license, clock }: Pick<Services, "license" | "clock">): boolean =>
  license.tier === "premium" && Date.parse(license.expiration) < clock.now();

export const isPremium = (ctx: Pick<Services, "license">): boolean => ctx.license.tier === "premium";
