// What clients send although the API has no use for it. Every other unknown parameter and key of a body is refused.
import { z } from "zod";
import { protocols } from "./all.ts";
import { type AnyEndpoint, SCIM } from "./endpoint.ts";

interface AcceptedKeys {
  /** Query parameters; `any`: all of them. */
  readonly query?: "any" | readonly string[];
  /** Paths of keys in the body, with `*` for every entry of a list; `any`: all of them. */
  readonly body?: "any" | readonly string[];
  /** Why other keys are accepted, for the API's description. */
  readonly why: string;
}

const READ_BACK = "what GET returns may be sent back";
const TEAMS = "clients send the teams as they were returned, with the role";

const ofSecrets = (list: string) => ["created_at", "team_id", "expires_at"].map((key) => `${list}.*.${key}`);

/** By method and path of the endpoint. */
const accepted: Readonly<Record<string, AcceptedKeys>> = {
  "POST /sso/callback": { query: "any", body: "any", why: "identity providers add fields of their own" },
  "GET /logo": { query: ["version"], why: "the address of a logo names its version, so that browsers may keep it" },
  "GET /hosts/report": {
    query: ["page", "per_page"],
    why: "clients send the parameters of the list; a report has all hosts",
  },
  "POST /teams": { body: ofSecrets("secrets"), why: READ_BACK },
  "PATCH /teams/:id": {
    body: ["host_ids", "user_ids", ...ofSecrets("secrets")],
    why: `${READ_BACK}; POST /hosts/transfer and PATCH /teams/:id/users move hosts and users`,
  },
  "POST /spec/teams": { body: ofSecrets("specs.*.secrets"), why: READ_BACK },
  "DELETE /teams/:id/users": { body: ["users.*.role"], why: "the same body as for PATCH" },
  "POST /spec/enroll_secret": { body: ofSecrets("spec.secrets"), why: READ_BACK },
  "PATCH /teams/:id/secrets": { body: ofSecrets("secrets"), why: READ_BACK },
  "POST /users/admin": { body: ["teams.*.*"], why: TEAMS },
  "PATCH /users/:id": { body: ["teams.*.*"], why: TEAMS },
  "POST /invites": { body: ["teams.*.*"], why: TEAMS },
  "PATCH /invites/:id": { body: ["teams.*.*"], why: TEAMS },
  "POST /spec/labels": {
    body: ["id", "author_id", "team_id", "host_count"].map((key) => `specs.*.${key}`),
    why: READ_BACK,
  },
};

/** Keys that are refused although they have a meaning: where it is. */
const elsewhere: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "PATCH /teams/:id": { agent_options: "POST /teams/:id/agent_options replaces them" },
  "PATCH /labels/:id": Object.fromEntries(
    ["query", "platform", "criteria", "label_membership_type"].map((key) => [
      key,
      "it cannot be changed; delete the label and create it again, or use POST /spec/labels",
    ]),
  ),
  "POST /hosts/transfer": { host_ids: "use hosts", ids: "use hosts" },
  "POST /hosts/delete": { hosts: "use ids", host_ids: "use ids" },
};

/** Where a key belongs that the endpoint does not have. */
export const placeOf = ({ method, path }: Pick<AnyEndpoint, "method" | "path">, key: string): string | undefined => {
  const places = elsewhere[`${method} ${path}`] ?? {};
  return Object.hasOwn(places, key) ? places[key] : undefined;
};

const nothing: AcceptedKeys = { why: "" };
/** RFC 7644, sections 3.4.2 and 3.9: directories send parameters that a server may ignore. */
const ofDirectories: AcceptedKeys = { query: "any", why: "RFC 7644" };

const cache = new WeakMap<AnyEndpoint, AcceptedKeys>();

export function acceptedKeys(endpoint: AnyEndpoint): AcceptedKeys {
  const cached = cache.get(endpoint);
  if (cached !== undefined) return cached;
  const keys = keysOf(endpoint);
  cache.set(endpoint, keys);
  return keys;
}

function keysOf(endpoint: AnyEndpoint): AcceptedKeys {
  const { method, path, mediaType } = endpoint;
  // Devices and agents of other makers and versions send what their protocols allow.
  if (isProtocol(endpoint)) return { query: "any", body: "any", why: "protocols of agents and devices" };
  if (mediaType === SCIM) return ofDirectories;
  const listed = accepted[`${method} ${path}`] ?? nothing;
  const returned = returnedKeys(endpoint);
  if (listed.body === "any" || returned.length === 0) return listed;
  return { ...listed, body: [...(listed.body ?? []), ...returned], why: listed.why === "" ? READ_BACK : listed.why };
}

const isProtocol = (endpoint: AnyEndpoint): boolean =>
  endpoint.exact || Object.values(protocols).some((group) => Object.values(group).includes(endpoint));

/** Clients read an object, change it and send all of it back: what the reply to a change contains is accepted. */
function returnedKeys(endpoint: AnyEndpoint): string[] {
  const { method, response, body } = endpoint;
  if (method !== "PATCH" || !(response instanceof z.ZodObject) || !(body instanceof z.ZodObject)) return [];
  const [object, ...others] = Object.values(response.shape);
  const { shape } = object instanceof z.ZodObject && others.length === 0 ? object : response;
  return Object.keys(shape).filter((key) => !Object.hasOwn(body.shape, key) && placeOf(endpoint, key) === undefined);
}

/** The endpoints of the list, so that a test finds one that no longer exists. */
export const endpointsWithAcceptedKeys = (): string[] => Object.keys(accepted);
