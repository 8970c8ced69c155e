import type { Logger } from "pino";
import type { Roles } from "../../api/access.ts";
import type { ConfigSections, License } from "../../api/app-config.ts";
import type { Blobs } from "../store/blobs/blobs.ts";
import type { ServerStore, ServerTx } from "../tables.ts";
import type { Clock } from "./clock.ts";
import type { Metrics } from "./metrics.ts";
import type { Random } from "./random.ts";
import type { Settings } from "./settings.ts";

/** Who acts: a signed-in user, nobody (no token), or the service itself (jobs), which may do everything. */
export interface Viewer extends Roles {
  readonly kind: "user" | "nobody" | "service";
  readonly id: number;
  readonly name: string;
  readonly email: string;
  readonly gravatar_url: string;
  readonly api_only: boolean;
  readonly force_password_reset: boolean;
  /** The session whose token called; 0 without one. */
  readonly session_id: number;
  /** The name of the API token that called; empty for sessions. */
  readonly token_name: string;
  /** Set when the token that called is limited to these endpoints, as `GET /hosts`. */
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

/** The organization's configuration as logic reads it: held in memory, refreshed when any server changes it. */
export interface ConfigReader {
  current(): Promise<ConfigSections>;
}

/** What lives as long as the server. */
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
  /** Lets POST /setup be called from another machine; printed at start while no user exists. */
  readonly setupToken: string;
}

/** What logic gets: the services, and who asks from where. Inside a transaction, `store` is the transaction's. */
export interface Context extends Omit<Services, "store"> {
  readonly store: ServerTx;
  readonly user: Viewer;
  /** The caller's address by the trusted-proxy rule. */
  readonly address: string;
  readonly requestId: string;
  /** The request's headers; none where the server works by itself. */
  readonly headers?: { get(name: string): string | null };
  /** The host that calls with its own key, where the endpoint lets hosts call; `user` is nobody then. */
  readonly host?: { readonly id: number; readonly team_id: number | null };
}

/** The same context on a transaction's store. */
export const within = (ctx: Context, store: ServerTx): Context => ({ ...ctx, store });

/** A context for work that the server does by itself. */
export const serviceContext = (services: Services, requestId = "job"): Context => ({
  ...services,
  user: service,
  address: "",
  requestId,
});

/** An expired key keeps the premium tier for what is read; what changes is refused. */
export const licenseExpired = ({ license, clock }: Pick<Services, "license" | "clock">): boolean =>
  license.tier === "premium" && Date.parse(license.expiration) < clock.now();

export const isPremium = (ctx: Pick<Services, "license">): boolean => ctx.license.tier === "premium";
