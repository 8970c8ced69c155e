// A client of the portal's service for automatic enrollment ("Device Assignment", protocol version 3).

import { z } from "zod";
import type { Services } from "../../../platform/core/context.ts";
import { fetchVendor, OutboundError, type OutboundReply } from "../../../platform/core/outbound/fetch.ts";
import { jsonOf, retryAfterOf } from "../../../platform/core/outbound/reply.ts";
import { part } from "../../../platform/core/running.ts";
import { type OauthCredentials, oauthHeader } from "./oauth.ts";

/**
 * `terms`: the organization has to accept new terms in the portal. `token`: the portal refuses the token. `cursor`: the
 * cursor cannot be used any more. `exhausted`: all devices were read with this cursor. `busy`: too many requests.
 * `refused`: the portal refuses what was sent. `unreachable`: no usable reply.
 */
type PortalProblem = "terms" | "token" | "cursor" | "exhausted" | "busy" | "refused" | "unreachable";

/** The message may be shown to admins. */
export class PortalError extends Error {
  readonly problem: PortalProblem;
  /** Seconds after which to try again, if the portal named a time. */
  readonly retryAfter: number | null;

  constructor(problem: PortalProblem, message: string, retryAfter: number | null = null) {
    super(message);
    this.problem = problem;
    this.retryAfter = retryAfter;
  }
}

const text = z.string().max(1024);
const Account = z.object({
  server_uuid: text.min(1),
  server_name: text.default(""),
  org_name: text.default(""),
  admin_id: text.default(""),
});
export type PortalAccount = z.output<typeof Account>;

const Device = z.object({
  serial_number: text.min(1),
  model: text.nullish(),
  device_family: text.nullish(),
  os: text.nullish(),
  op_type: text.nullish(),
  op_date: text.nullish(),
  profile_uuid: text.nullish(),
  device_assigned_date: text.nullish(),
  mdm_migration_deadline: text.nullish(),
});
export type PortalDevice = z.output<typeof Device>;

const Page = z.object({
  devices: z.array(Device).max(1000).default([]),
  cursor: text.default(""),
  more_to_follow: z.boolean(),
});
export type PortalPage = z.output<typeof Page>;

const Defined = z.object({ profile_uuid: text.min(1) });
const Assigned = z.object({
  devices: z.record(text, text),
  retry_after_seconds: z.union([z.number(), z.string()]).nullish(),
});

export interface Assignment {
  /** By serial number. */
  readonly responses: ReadonlyMap<string, string>;
  /** Seconds, for devices with the response THROTTLED. */
  readonly retryAfter: number | null;
}

/** Devices in one request (the service's own limit). */
export const BATCH_SIZE = 1000;
const MAX_BYTES = 16 * 1024 * 1024;
const TIMEOUT = 30_000;

type Method = "GET" | "POST" | "PUT";
type Deps = Pick<Services, "running" | "dryRun" | "settings" | "clock" | "random">;

/** Session tokens, by access token. They last some minutes, and every server opens its own. */
const sessions = part("portal sessions", () => new Map<string, string>());

export class PortalClient {
  readonly #services: Deps;
  readonly #credentials: OauthCredentials;
  readonly #base: string;
  readonly #sessions: Map<string, string>;

  constructor(services: Deps, credentials: OauthCredentials) {
    this.#services = services;
    this.#credentials = credentials;
    this.#base = services.settings.dep_url.replace(/\/+$/, "");
    this.#sessions = services.running.of(sessions);
  }

  account(): Promise<PortalAccount> {
    return this.#call(Account, "GET", "/account");
  }

  /** All devices, page by page. */
  devices(cursor: string): Promise<PortalPage> {
    return this.#page("/server/devices", cursor);
  }

  /** What has changed since the cursor. */
  changes(cursor: string): Promise<PortalPage> {
    return this.#page("/devices/sync", cursor);
  }

  /** Returns the portal's id of the profile. */
  async defineProfile(profile: Readonly<Record<string, unknown>>): Promise<string> {
    return (await this.#call(Defined, "POST", "/profile", profile)).profile_uuid;
  }

  async assign(profileUuid: string, serials: readonly string[]): Promise<Assignment> {
    const assignment = { profile_uuid: profileUuid, devices: serials };
    const { devices, retry_after_seconds } = await this.#call(Assigned, "PUT", "/profile/devices", assignment);
    const seconds = Number(retry_after_seconds ?? Number.NaN);
    return {
      responses: new Map(Object.entries(devices)),
      retryAfter: Number.isFinite(seconds) && seconds >= 0 ? seconds : null,
    };
  }

  /** Gives the devices up for good: they leave the organization's portal. */
  async disown(serials: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const { devices } = await this.#call(Assigned, "POST", "/devices/disown", { devices: serials });
    return new Map(Object.entries(devices));
  }

  #page(path: string, cursor: string): Promise<PortalPage> {
    return this.#call(Page, "POST", path, { limit: BATCH_SIZE, ...(cursor === "" ? {} : { cursor }) });
  }

  async #call<T>(schema: z.ZodType<T>, method: Method, path: string, body?: unknown): Promise<T> {
    const { access_token } = this.#credentials;
    for (let attempt = 1; ; attempt++) {
      const session = this.#sessions.get(access_token) ?? (await this.#openSession());
      this.#sessions.set(access_token, session);
      const reply = await send(this.#services, `${this.#base}${path}`, {
        method,
        headers: { ...protocol, "x-adm-auth-session": session },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const renewed = reply.headers.get("x-adm-auth-session");
      if (renewed) this.#sessions.set(access_token, renewed);
      const isForbidden =
        reply.status === 401 || (reply.status === 403 && /FORBIDDEN/.test(reply.body.toString("utf8")));
      if (isForbidden) this.#sessions.delete(access_token);
      if (isForbidden && attempt === 1) continue;
      if (reply.status !== 200) throw problemOf(reply, path);
      const parsed = schema.safeParse(jsonOf(reply));
      if (!parsed.success) throw new PortalError("unreachable", `the portal's reply to ${path} is not valid`);
      return parsed.data;
    }
  }

  async #openSession(): Promise<string> {
    const { random, clock } = this.#services;
    const url = `${this.#base}/session`;
    const authorization = oauthHeader(this.#credentials, {
      method: "GET",
      url,
      nonce: random.token(16),
      timestamp: Math.floor(clock.now() / 1000),
    });
    const reply = await send(this.#services, url, { headers: { ...protocol, authorization } });
    if (reply.status !== 200) throw problemOf(reply, "session");
    const parsed = z.object({ auth_session_token: z.string().min(1).max(8192) }).safeParse(jsonOf(reply));
    if (!parsed.success) throw new PortalError("unreachable", "the portal opened no session");
    return parsed.data.auth_session_token;
  }
}

const protocol = { "x-server-protocol-version": "3", "content-type": "application/json;charset=UTF8" };

async function send(
  services: Deps,
  url: string,
  request: { method?: Method; headers: Record<string, string>; body?: string },
): Promise<OutboundReply> {
  try {
    return await fetchVendor(services, url, { ...request, timeout: TIMEOUT, maxBytes: MAX_BYTES });
  } catch (error) {
    if (error instanceof OutboundError) throw new PortalError("unreachable", error.message);
    throw error;
  }
}

/** The service reports errors as plain words, such as EXPIRED_CURSOR. Only known ones appear in messages. */
function problemOf({ status, headers, body }: OutboundReply, path: string): PortalError {
  const words = body.toString("utf8").slice(0, 1000);
  if (/T_C_NOT_SIGNED/.test(words))
    return new PortalError("terms", "the organization has to accept new terms in the business portal");
  if (/EXHAUSTED_CURSOR/.test(words)) return new PortalError("exhausted", "all devices were read");
  if (/(EXPIRED|INVALID)_CURSOR/.test(words)) return new PortalError("cursor", "the cursor has expired");
  if (status === 429 || status === 503) {
    const retryAfter = retryAfterOf({ headers });
    return new PortalError("busy", "the portal accepts no more requests for now", retryAfter);
  }
  if (status === 401 || status === 403)
    return new PortalError("token", "the portal refuses the token: it has expired or was replaced");
  const reason = /^"?([A-Z][A-Z_]{2,60})"?\s*$/.exec(words)?.[1];
  if (status === 400)
    return new PortalError("refused", `the portal refused the request: ${reason ?? "without a reason"}`);
  return new PortalError("unreachable", `the portal answered ${path} with status ${status}`);
}
