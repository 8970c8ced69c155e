// A stand-in for the license service of store apps ("Apps and Books") and for the store's lookup, made from the vendor's
// public documentation: pages of assets, assignments by events, error numbers.
import { randomBytes } from "node:crypto";
import type { TestApp } from "./app.ts";
import { type Fake, type Reply, type Request, startFake } from "./ca-fakes.ts";

export interface StoreAsset {
  adamId: string;
  pricingParam?: string;
  productType?: "App" | "Book";
  deviceAssignable?: boolean;
  supportedPlatforms?: string[];
  totalCount?: number;
}

export interface StoreEntry {
  trackId: number;
  trackName: string;
  bundleId: string;
  version: string;
  artworkUrl512?: string;
  supportedDevices?: string[];
}

interface AssignedLicense {
  readonly adamId: string;
  readonly pricingParam: string;
  readonly serialNumber: string;
}

export interface LicenseService extends Fake {
  readonly settings: { vpp_url: string; app_lookup_url: string };
  /** What `Authorization` has to be. */
  token: string;
  account: { uId: string; locationName: string; countryISO2ACode: string };
  assets: StoreAsset[];
  /** What the store knows, by the entity that is asked for. */
  store: Record<"software" | "desktopSoftware", StoreEntry[]>;
  readonly assigned: AssignedLicense[];
  /** How often the status of an event is still PENDING. */
  pending: number;
  pageSize: number;
  /** An error instead of the reply to a path. */
  fault: (path: string, request: Request) => Reply | null;
  /** The content of a token's file. */
  tokenFile(more?: { expDate?: string; orgName?: string; token?: string }): string;
}

export const licenseError = (errorNumber: number, status = 400, headers: Record<string, string> = {}): Reply =>
  json(status, { errorNumber, errorMessage: `error ${errorNumber}`, errorInfo: {} }, headers);

const json = (status: number, body: unknown, headers: Record<string, string> = {}): Reply => ({
  status,
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify(body),
});

interface Event {
  left: number;
  failures: { errorNumber: number; errorMessage: string }[];
}

export async function startLicenseService(): Promise<LicenseService> {
  const events = new Map<string, Event>();
  const freeOf = ({ adamId, totalCount = 10 }: StoreAsset) =>
    totalCount - service.assigned.filter((one) => one.adamId === adamId).length;

  function assets(url: URL): Reply {
    const page = Number(url.searchParams.get("pageIndex") ?? 0);
    const from = page * service.pageSize;
    const some = service.assets.slice(from, from + service.pageSize).map((asset) => ({
      pricingParam: "STDQ",
      productType: "App",
      deviceAssignable: true,
      revocable: true,
      supportedPlatforms: ["iOS"],
      totalCount: 10,
      retiredCount: 0,
      ...asset,
      availableCount: freeOf(asset),
      assignedCount: (asset.totalCount ?? 10) - freeOf(asset),
    }));
    const isLast = from + service.pageSize >= service.assets.length;
    return json(200, { assets: some, currentPageIndex: page, ...(isLast ? {} : { nextPageIndex: page + 1 }) });
  }

  function change(isAssociation: boolean, body: Buffer): Reply {
    const given = JSON.parse(body.toString()) as {
      assets: { adamId: string; pricingParam: string }[];
      serialNumbers: string[];
    };
    const failures: Event["failures"] = [];
    const fail = (errorNumber: number) => void failures.push({ errorNumber, errorMessage: `error ${errorNumber}` });
    for (const { adamId, pricingParam } of given.assets)
      for (const serialNumber of given.serialNumbers) {
        const asset = service.assets.find((one) => one.adamId === adamId);
        const at = service.assigned.findIndex((one) => one.adamId === adamId && one.serialNumber === serialNumber);
        if (!asset) fail(9604);
        else if (!isAssociation && at === -1) fail(9619);
        else if (!isAssociation) service.assigned.splice(at, 1);
        else if (asset.deviceAssignable === false) fail(9628);
        else if (at !== -1) fail(9616);
        else if (freeOf(asset) <= 0) fail(9610);
        else service.assigned.push({ adamId, pricingParam, serialNumber });
      }
    const eventId = randomBytes(16).toString("hex");
    events.set(eventId, { left: service.pending, failures });
    return json(200, { eventId, uId: service.account.uId });
  }

  function statusOf(url: URL): Reply {
    const event = events.get(url.searchParams.get("eventId") ?? "");
    if (!event) return licenseError(9604, 400);
    const isPending = event.left-- > 0;
    const eventStatus = isPending ? "PENDING" : event.failures.length > 0 ? "FAILED" : "COMPLETE";
    return json(200, { eventStatus, eventType: "ASSOCIATE", ...(isPending ? {} : { failures: event.failures }) });
  }

  function lookUp(url: URL): Reply {
    const ids = (url.searchParams.get("id") ?? "").split(",").map(Number);
    const entity = url.searchParams.get("entity") === "desktopSoftware" ? "desktopSoftware" : "software";
    const results = service.store[entity].filter(({ trackId }) => ids.includes(trackId));
    return json(200, { resultCount: results.length, results });
  }

  function answer(request: Request): Reply {
    const { url, method, headers, body } = request;
    const fault = service.fault(url.pathname, request);
    if (fault) return fault;
    if (url.pathname === "/lookup") return lookUp(url);
    if (headers.authorization !== `Bearer ${service.token}`) return licenseError(9622, 401);
    switch (`${method} ${url.pathname}`) {
      case "GET /mdm/v2/client/config":
        return json(200, { ...service.account, tokenExpirationDate: "2027-01-01T00:00:00+0000" });
      case "GET /mdm/v2/assets":
        return assets(url);
      case "GET /mdm/v2/assignments": {
        const of = (name: string) => url.searchParams.get(name);
        const found = service.assigned.filter(
          (one) => one.adamId === of("adamId") && one.serialNumber === of("serialNumber"),
        );
        return json(200, { assignments: found, currentPageIndex: 0, totalPages: 1 });
      }
      case "POST /mdm/v2/assets/associate":
      case "POST /mdm/v2/assets/disassociate":
        return change(url.pathname.endsWith("/associate"), body);
      case "GET /mdm/v2/status":
        return statusOf(url);
      default:
        return licenseError(9600, 404);
    }
  }

  const fake = await startFake(answer);
  const service: LicenseService = Object.assign(fake, {
    settings: { vpp_url: `${fake.url}/mdm/v2`, app_lookup_url: `${fake.url}/lookup` },
    token: "",
    account: { uId: "library-1", locationName: "Main Street", countryISO2ACode: "US" },
    assets: [
      { adamId: "361309726", supportedPlatforms: ["iOS", "macOS"] },
      { adamId: "497799835", supportedPlatforms: ["macOS"] },
      { adamId: "310633997", supportedPlatforms: ["iOS"] },
    ],
    store: {
      desktopSoftware: [
        { trackId: 361309726, trackName: "Pages", bundleId: "com.apple.iWork.Pages", version: "14.4" },
        { trackId: 497799835, trackName: "Xcode", bundleId: "com.apple.dt.Xcode", version: "26.1" },
      ],
      software: [
        { trackId: 361309726, trackName: "Pages", bundleId: "com.apple.Pages", version: "14.4" },
        {
          trackId: 310633997,
          trackName: "Messenger",
          bundleId: "net.example.messenger",
          version: "26.2",
          artworkUrl512: "https://icons.example.com/messenger.png",
          supportedDevices: ["iPhone5s-iPhone5s", "iPhone17-iPhone17"],
        },
      ],
    },
    assigned: [],
    pending: 0,
    pageSize: 2,
    fault: () => null,
    tokenFile(more: { expDate?: string; orgName?: string; token?: string } = {}) {
      const content = { token: "secret", expDate: "2027-03-01T00:00:00+0000", orgName: "Example Ltd", ...more };
      service.token = Buffer.from(JSON.stringify(content)).toString("base64");
      return service.token;
    },
  });
  return service;
}

export function tokenForm(content: string): FormData {
  const form = new FormData();
  form.append("token", new Blob([content]), "main-street.vpptoken");
  return form;
}

/** Adds the service's token for all teams. Returns its id. */
export async function addVppToken(t: TestApp, service: LicenseService): Promise<number> {
  const reply = await t.post("/vpp_tokens", tokenForm(service.tokenFile()));
  const { vpp_token } = (await reply.json()) as { vpp_token: { id: number } };
  await t.patch(`/vpp_tokens/${vpp_token.id}/teams`, {});
  return vpp_token.id;
}

/** A token, as if it had been added. */
export const makeVppToken = async ({ store, clock }: Pick<TestApp, "store" | "clock">) =>
  store.vppTokens.insert({
    created_at: clock.iso(),
    org_name: "Example Ltd",
    location: "Main Street",
    library_id: `library ${++made}`,
    token: "c2VjcmV0",
    renew_date: "2027-03-01T00:00:00.000Z",
  });
let made = 0;

/** A store app that the team offers, as if it had been added. */
export async function makeStoreApp(t: Pick<TestApp, "store" | "clock">, teamId: number | null, more = {}) {
  const { store, clock } = t;
  const number = ++made;
  const token = await makeVppToken(t);
  const title = { name: `App ${number}`, source: "ios_apps", bundle_identifier: `com.example.app${number}` };
  const { id: title_id } = await store.softwareTitles.insert({ ...title, key: title.bundle_identifier });
  return store.storeApps.insert({
    created_at: clock.iso(),
    team_id: teamId,
    title_id,
    token_id: token.id,
    adam_id: String(1_000_000 + number),
    platform: "ios",
    categories: [],
    ...more,
  });
}
