// A client of the directory: access tokens by client credentials (RFC 6749, section 4.4), people and groups by its REST
// API ("Graph", version 1.0).

import { z } from "zod";
import { minutes, seconds } from "../../platform/core/clock.ts";
import type { Services } from "../../platform/core/context.ts";
import {
  fetchVendor,
  OutboundError,
  type OutboundReply,
  type OutboundRequest,
} from "../../platform/core/outbound/fetch.ts";
import { jsonOf } from "../../platform/core/outbound/reply.ts";
import { busyAfter, DirectoryError, graphProblem, tokenProblem } from "./problems.ts";

export interface Credentials {
  readonly tenant_id: string;
  readonly client_id: string;
  readonly client_secret: string;
}

const text = z
  .string()
  .nullish()
  .transform((value) => (value ?? "").trim().slice(0, 255));
const objectId = z.string().min(1).max(64);

const Person = z.object({
  id: objectId,
  userPrincipalName: z.string().min(1).max(255),
  displayName: text,
  givenName: text,
  surname: text,
  mail: text,
  department: text,
  accountEnabled: z
    .boolean()
    .nullish()
    .transform((value) => value ?? true),
});
export type DirectoryPerson = z.output<typeof Person>;

const Group = z.object({ id: objectId, displayName: text });
export type DirectoryGroup = z.output<typeof Group>;

const Member = z.object({ id: objectId });

const pageOf = <T extends z.ZodType>(item: T) =>
  z.object({ value: z.array(item).max(1_000), "@odata.nextLink": z.string().max(16_384).optional() });
const TokenReply = z.object({ access_token: z.string().min(1).max(16_384), expires_in: z.coerce.number().min(1) });

type Deps = Pick<Services, "running" | "dryRun" | "settings" | "clock">;

const TIMEOUT = seconds(30);
const MAX_BYTES = 16 * 1024 * 1024;
const MAX_PAGES = 10_000;
const MAX_ATTEMPTS = 4;
/** A longer wait is left to the next run of the job. */
const WAIT_MAX = minutes(2);

const PERSON_FIELDS = Object.keys(Person.shape).join(",");

export class DirectoryClient {
  readonly #services: Deps;
  readonly #credentials: Credentials;
  readonly #base: string;
  #token: { readonly text: string; readonly until: number } | null = null;

  constructor(services: Deps, credentials: Credentials) {
    this.#services = services;
    this.#credentials = credentials;
    this.#base = services.settings.directory_graph_url.replace(/\/+$/, "");
  }

  /** Throws if the directory does not accept the credentials. */
  async check(): Promise<void> {
    await this.#accessToken();
  }

  people(): AsyncIterable<readonly DirectoryPerson[]> {
    return this.#pages(Person, `/users?$select=${PERSON_FIELDS}&$top=500`);
  }

  groups(): AsyncIterable<readonly DirectoryGroup[]> {
    return this.#pages(Group, "/groups?$select=id,displayName&$top=500");
  }

  /** The ids of the people in a group, and in the groups in it. */
  async *members(groupId: string): AsyncIterable<readonly string[]> {
    const path = `/groups/${encodeURIComponent(groupId)}/transitiveMembers/microsoft.graph.user?$select=id&$top=500`;
    for await (const page of this.#pages(Member, path)) yield page.map(({ id }) => id);
  }

  /** Sends JSON to a path of the REST API, without repeating it. `permissions`: those that the app needs, for messages. */
  async post<T>(schema: z.ZodType<T>, path: string, body: unknown, permissions: string): Promise<T> {
    const headers = { "content-type": "application/json" };
    const request = { method: "POST", headers, body: JSON.stringify(body) } as const;
    const reply = await this.#authorized(`${this.#base}${path}`, request);
    if (reply.status === 200) return valid(schema, reply);
    throw graphProblem(reply.status, busyAfter(reply), permissions);
  }

  async *#pages<T extends z.ZodType>(item: T, path: string): AsyncGenerator<z.output<T>[]> {
    let url: string | undefined = `${this.#base}${path}`;
    for (let read = 0; url !== undefined; read++) {
      if (read === MAX_PAGES) throw new DirectoryError("unreachable", "the directory returns too many pages");
      const page: { value: z.output<T>[]; "@odata.nextLink"?: string | undefined } = await this.#get(pageOf(item), url);
      yield page.value;
      url = page["@odata.nextLink"];
      // The access token must not go to another server.
      if (url !== undefined && !url.startsWith(`${this.#base}/`))
        throw new DirectoryError("unreachable", "the directory's next page is at another address than the directory");
    }
  }

  async #get<T>(schema: z.ZodType<T>, url: string): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      const reply = await this.#authorized(url);
      if (reply.status === 200) return valid(schema, reply);
      const problem = graphProblem(reply.status, busyAfter(reply));
      const wait = problem.retryAfter ?? seconds(5);
      if (problem.problem !== "busy" || attempt === MAX_ATTEMPTS || wait > WAIT_MAX) throw problem;
      await this.#services.clock.sleep(wait);
    }
  }

  /** A second attempt with a new access token if the directory does not accept the first. */
  async #authorized(url: string, request: OutboundRequest = {}): Promise<OutboundReply> {
    for (let attempt = 1; ; attempt++) {
      const headers = { ...request.headers, authorization: `Bearer ${await this.#accessToken()}` };
      const reply = await send(this.#services, url, { ...request, headers });
      if (reply.status !== 401 || attempt > 1) return reply;
      this.#token = null;
    }
  }

  async #accessToken(): Promise<string> {
    const { settings, clock } = this.#services;
    if (this.#token !== null && this.#token.until > clock.now()) return this.#token.text;
    const { tenant_id, client_id, client_secret } = this.#credentials;
    const login = settings.directory_login_url.replace(/\/+$/, "");
    const scope = `${new URL(this.#base).origin}/.default`;
    const reply = await send(this.#services, `${login}/${tenant_id}/oauth2/v2.0/token`, {
      method: "POST",
      isRead: true,
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: `${new URLSearchParams({ grant_type: "client_credentials", client_id, client_secret, scope })}`,
    });
    if (reply.status !== 200) throw tokenProblem(reply);
    const parsed = TokenReply.safeParse(jsonOf(reply));
    if (!parsed.success) throw new DirectoryError("unreachable", "the sign-in service's reply is not valid");
    const { access_token, expires_in } = parsed.data;
    this.#token = { text: access_token, until: clock.now() + Math.max(0, seconds(expires_in) - minutes(1)) };
    return access_token;
  }
}

function valid<T>(schema: z.ZodType<T>, reply: OutboundReply): T {
  const parsed = schema.safeParse(jsonOf(reply));
  if (parsed.success) return parsed.data;
  throw new DirectoryError("unreachable", "a reply of the directory is not valid");
}

async function send(services: Deps, url: string, request: OutboundRequest): Promise<OutboundReply> {
  try {
    return await fetchVendor(services, url, { ...request, timeout: TIMEOUT, maxBytes: MAX_BYTES });
  } catch (error) {
    if (error instanceof OutboundError) throw new DirectoryError("unreachable", error.message);
    throw error;
  }
}
