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
import { jsonOf, retryAfterOf } from "../../platform/core/outbound/reply.ts";

/**
 * `credentials`: the directory does not accept them. `permission`: the app lacks a permission. `gone`: what was asked for
 * does not exist any more. `refused`: the directory does not accept the request. `busy`: it accepts no more requests for
 * now. `unreachable`: no usable reply.
 */
export type DirectoryProblem = "credentials" | "permission" | "gone" | "refused" | "busy" | "unreachable";

/** The message may be shown to admins. */
export class DirectoryError extends Error {
  readonly problem: DirectoryProblem;
  /** Milliseconds after which to try again, if the directory named a time. */
  readonly retryAfter: number | null;

  constructor(problem: DirectoryProblem, message: string, retryAfter: number | null = null) {
    super(message);
    this.problem = problem;
    this.retryAfter = retryAfter;
  }
}

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
const TokenFailure = z.object({ error: z.string(), error_description: z.string().optional() });

export interface DirectoryClient {
  /** Throws if the directory does not accept the credentials. */
  check(): Promise<void>;
  people(): AsyncIterable<readonly DirectoryPerson[]>;
  groups(): AsyncIterable<readonly DirectoryGroup[]>;
  /** The ids of the people in a group, and in the groups in it. */
  members(groupId: string): AsyncIterable<readonly string[]>;
  /** Sends JSON to a path of the REST API, without repeating it. `permissions`: those that the app needs, for messages. */
  post<T>(schema: z.ZodType<T>, path: string, body: unknown, permissions: string): Promise<T>;
}

type Deps = Pick<Services, "running" | "dryRun" | "settings" | "clock">;

const TIMEOUT = seconds(30);
const MAX_BYTES = 16 * 1024 * 1024;
const MAX_PAGES = 10_000;
const TRIES = 4;
/** A longer wait is left to the next run of the job. */
const WAIT_MAX = minutes(2);

const PERSON_FIELDS = Object.keys(Person.shape).join(",");

export function directoryClient(services: Deps, credentials: Credentials): DirectoryClient {
  const base = services.settings.directory_graph_url.replace(/\/+$/, "");
  let token: { readonly text: string; readonly until: number } | null = null;

  async function accessToken(): Promise<string> {
    if (token !== null && token.until > services.clock.now()) return token.text;
    const login = services.settings.directory_login_url.replace(/\/+$/, "");
    const reply = await send(services, `${login}/${credentials.tenant_id}/oauth2/v2.0/token`, {
      method: "POST",
      isRead: true,
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: `${new URLSearchParams({
        grant_type: "client_credentials",
        client_id: credentials.client_id,
        client_secret: credentials.client_secret,
        scope: `${new URL(base).origin}/.default`,
      })}`,
    });
    if (reply.status !== 200) throw tokenProblem(reply);
    const parsed = TokenReply.safeParse(jsonOf(reply));
    if (!parsed.success) throw new DirectoryError("unreachable", "the sign-in service's reply is not valid");
    const { access_token, expires_in } = parsed.data;
    token = { text: access_token, until: services.clock.now() + Math.max(0, seconds(expires_in) - minutes(1)) };
    return access_token;
  }

  /** A second attempt with a new access token if the directory does not accept the first. */
  async function authorized(url: string, request: OutboundRequest = {}): Promise<OutboundReply> {
    for (let tried = 1; ; tried++) {
      const headers = { ...request.headers, authorization: `Bearer ${await accessToken()}` };
      const reply = await send(services, url, { ...request, headers });
      if (reply.status !== 401 || tried > 1) return reply;
      token = null;
    }
  }

  async function get<T>(schema: z.ZodType<T>, url: string): Promise<T> {
    for (let tried = 1; ; tried++) {
      const reply = await authorized(url);
      if (reply.status === 200) return valid(schema, reply);
      const problem = graphProblem(reply.status, busyAfter(reply));
      const wait = problem.retryAfter ?? seconds(5);
      if (problem.problem !== "busy" || tried === TRIES || wait > WAIT_MAX) throw problem;
      await services.clock.sleep(wait);
    }
  }

  async function* pages<T extends z.ZodType>(item: T, path: string): AsyncGenerator<z.output<T>[]> {
    let url: string | undefined = `${base}${path}`;
    for (let read = 0; url !== undefined; read++) {
      if (read === MAX_PAGES) throw new DirectoryError("unreachable", "the directory returns too many pages");
      const page: { value: z.output<T>[]; "@odata.nextLink"?: string | undefined } = await get(pageOf(item), url);
      yield page.value;
      url = page["@odata.nextLink"];
      // The access token must not go to another server.
      if (url !== undefined && !url.startsWith(`${base}/`))
        throw new DirectoryError("unreachable", "the directory's next page is at another address than the directory");
    }
  }

  return {
    check: async () => void (await accessToken()),
    people: () => pages(Person, `/users?$select=${PERSON_FIELDS}&$top=500`),
    groups: () => pages(Group, "/groups?$select=id,displayName&$top=500"),
    async *members(groupId) {
      const path = `/groups/${encodeURIComponent(groupId)}/transitiveMembers/microsoft.graph.user?$select=id&$top=500`;
      for await (const page of pages(Member, path)) yield page.map(({ id }) => id);
    },
    async post(schema, path, body, permissions) {
      const headers = { "content-type": "application/json" };
      const reply = await authorized(`${base}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
      if (reply.status === 200) return valid(schema, reply);
      throw graphProblem(reply.status, busyAfter(reply), permissions);
    },
  };
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

function busyAfter({ headers }: OutboundReply): number | null {
  const wait = retryAfterOf({ headers });
  return wait === null ? null : seconds(wait);
}

/** Only the error number of the directory's description is shown: the rest may contain parts of the request. */
function tokenProblem(reply: OutboundReply): DirectoryError {
  if (reply.status === 429 || reply.status === 503)
    return new DirectoryError("busy", "the directory accepts no more requests for now", busyAfter(reply));
  const failure = TokenFailure.safeParse(jsonOf(reply));
  if (reply.status >= 400 && reply.status < 500 && failure.success) {
    const number = /^AADSTS\d{1,10}/.exec(failure.data.error_description ?? "")?.[0];
    const code = /^[a-z_]{1,64}$/.test(failure.data.error) ? failure.data.error : "unknown error";
    return new DirectoryError(
      "credentials",
      `the directory does not accept the credentials (${number ? `${code}, ${number}` : code})`,
    );
  }
  return new DirectoryError("unreachable", `the directory's sign-in service answered with status ${reply.status}`);
}

/** `permissions`: those that the app needs for the request. `retryAfter`: in milliseconds, if the directory named it. */
export function graphProblem(
  status: number,
  retryAfter: number | null,
  permissions = "User.Read.All and GroupMember.Read.All",
): DirectoryError {
  switch (status) {
    case 401:
      return new DirectoryError("credentials", "the directory does not accept the access token of the app");
    case 403:
      return new DirectoryError("permission", `the app lacks a permission in the directory: it needs ${permissions}`);
    case 404:
      return new DirectoryError("gone", "the directory does not know what was asked for");
    case 429:
    case 503:
      return new DirectoryError("busy", "the directory accepts no more requests for now", retryAfter);
    default: {
      const isRefusal = status >= 400 && status < 500;
      return new DirectoryError(isRefusal ? "refused" : "unreachable", `the directory answered with status ${status}`);
    }
  }
}
