// A stand-in for the organization's cloud directory, made from the vendor's public documentation: access tokens by client
// credentials, people, groups and their members in pages.
import { type Fake, type Reply, type Request, startFake } from "./ca-fakes.ts";

export const TENANT = "11111111-2222-3333-4444-555555555555";
export const CLIENT = "66666666-7777-8888-9999-aaaaaaaaaaaa";
export const SECRET = "app-secret-of-the-directory";

export interface StandInPerson {
  id: string;
  userPrincipalName: string;
  displayName?: string | null;
  givenName?: string | null;
  surname?: string | null;
  mail?: string | null;
  department?: string | null;
  accountEnabled?: boolean;
}

export interface StandInGroup {
  id: string;
  displayName: string;
  members: string[];
}

/** A device, with what was written to it. */
export interface StandInDevice {
  isCompliant?: boolean;
  isManaged?: boolean;
  extensionAttributes?: Record<string, string>;
}

export interface DirectoryStandIn extends Fake {
  readonly settings: { directory_graph_url: string; directory_login_url: string };
  /** The secret that it accepts. */
  secret: string;
  people: StandInPerson[];
  groups: StandInGroup[];
  pageSize: number;
  /** By device id. */
  readonly devices: Map<string, StandInDevice>;
  /** The sizes of the batches that it was sent. */
  readonly batches: number[];
  /** A reply instead of that to a part of a batch. */
  deviceFault: (deviceId: string) => { status: number; headers?: Record<string, string> } | null;
  /** A reply instead of that to a path. */
  fault: (path: string, request: Request) => Reply | null;
  /** The address of the next page, which a broken directory may change. */
  nextAddress: (address: string) => string;
}

export const credentials = (more: Record<string, unknown> = {}) => ({
  directory_graph_credentials: [{ tenant_id: TENANT, client_id: CLIENT, client_secret: SECRET, ...more }],
});

const json = (status: number, body: unknown, headers: Record<string, string> = {}): Reply => ({
  status,
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify(body),
});

export const graphError = (status: number, code: string, headers: Record<string, string> = {}): Reply =>
  json(status, { error: { code, message: `${code}: request 0123` } }, headers);

export async function startDirectory(): Promise<DirectoryStandIn> {
  let tokens = 0;

  function token({ body, url }: Request): Reply {
    const form = new URLSearchParams(body.toString());
    const isOurs =
      url.pathname === `/login/${TENANT}/oauth2/v2.0/token` &&
      form.get("grant_type") === "client_credentials" &&
      form.get("scope") === `${new URL(directory.url).origin}/.default` &&
      form.get("client_id") === CLIENT;
    if (!isOurs) return json(400, { error: "unauthorized_client", error_description: "AADSTS700016: not found" });
    if (form.get("client_secret") !== directory.secret)
      return json(401, {
        error: "invalid_client",
        error_description: `AADSTS7000215: Invalid client secret provided: ${form.get("client_secret")}`,
      });
    return json(200, { token_type: "Bearer", expires_in: 3599, access_token: `token-${++tokens}` });
  }

  function page(url: URL, all: readonly unknown[]): Reply {
    const from = Number(url.searchParams.get("$skiptoken") ?? 0);
    const to = from + directory.pageSize;
    const next = new URL(url.href);
    next.searchParams.set("$skiptoken", String(to));
    return json(200, {
      "@odata.context": `${directory.url}/graph/$metadata`,
      value: all.slice(from, to),
      ...(to < all.length
        ? { "@odata.nextLink": directory.nextAddress(`${directory.url}${next.pathname}${next.search}`) }
        : {}),
    });
  }

  interface Part {
    id: string;
    method: string;
    url: string;
    body: StandInDevice;
  }

  /** JSON batching: 20 requests at most, and the responses in any order. */
  function batch({ body }: Request): Reply {
    const { requests } = JSON.parse(body.toString()) as { requests: Part[] };
    directory.batches.push(requests.length);
    if (requests.length === 0 || requests.length > 20) return graphError(400, "BadRequest");
    const responses = requests.map(({ id, method, url, body: change }) => {
      const deviceId = /^\/devices\(deviceId='([0-9a-f-]{36})'\)$/.exec(url)?.[1];
      const device = deviceId === undefined ? undefined : directory.devices.get(deviceId);
      const fault = deviceId === undefined ? null : directory.deviceFault(deviceId);
      if (fault) return { id, ...fault, body: { error: { code: "fault" } } };
      if (!device || method !== "PATCH")
        return { id, status: 404, body: { error: { code: "Request_ResourceNotFound" } } };
      Object.assign(device, change);
      return { id, status: 204, headers: {} };
    });
    return json(200, { responses: responses.reverse() });
  }

  const fake = await startFake((request) => {
    const { url, method, headers } = request;
    const fault = directory.fault(url.pathname, request);
    if (fault) return fault;
    if (url.pathname.startsWith("/login/")) return method === "POST" ? token(request) : graphError(405, "method");
    if (headers.authorization !== `Bearer token-${tokens}`) return graphError(401, "InvalidAuthenticationToken");
    if (method === "POST" && url.pathname === "/graph/$batch") return batch(request);
    if (method !== "GET") return graphError(405, "method");
    if (url.pathname === "/graph/users") return page(url, directory.people);
    if (url.pathname === "/graph/groups")
      return page(
        url,
        directory.groups.map(({ id, displayName }) => ({ id, displayName })),
      );
    const id = /^\/graph\/groups\/([^/]+)\/transitiveMembers\/microsoft\.graph\.user$/.exec(url.pathname)?.[1];
    const group = directory.groups.find((one) => one.id === id);
    return group
      ? page(
          url,
          group.members.map((one) => ({ id: one })),
        )
      : graphError(404, "Request_ResourceNotFound");
  });
  const directory: DirectoryStandIn = Object.assign(fake, {
    settings: { directory_graph_url: `${fake.url}/graph`, directory_login_url: `${fake.url}/login` },
    secret: SECRET,
    people: [],
    groups: [],
    pageSize: 2,
    devices: new Map<string, StandInDevice>(),
    batches: [],
    deviceFault: () => null,
    fault: () => null,
    nextAddress: (address: string) => address,
  });
  return directory;
}
