// A stand-in for the calendar's REST API and its token service, made from the vendor's public documentation. A service
// account may act for the users of one domain.
import { generateKeyPairSync, type KeyPairKeyObjectResult, randomUUID } from "node:crypto";
import { jwtVerify } from "jose";
import { type Fake, type Reply, type Request, startFake } from "./ca-fakes.ts";

const EMAIL = "svc@calendars.iam.gserviceaccount.com";
export const DOMAIN = "example.com";

export interface CalendarEntry {
  id: string;
  status: string;
  summary?: string;
  description?: string;
  start: { dateTime?: string; date?: string; timeZone?: string };
  end: { dateTime?: string; date?: string; timeZone?: string };
  transparency?: string;
  attendees?: { self?: boolean; responseStatus?: string }[];
}

export interface CalendarService extends Fake {
  /** Settings of a server that uses the stand-in. */
  readonly settings: { google_calendar_url: string; google_token_url: string };
  /** The integration that an admin configures. */
  readonly integration: { domain: string; api_key_json: Record<string, string> };
  /** The events of each user; a user without a list does not exist. */
  readonly calendars: Map<string, CalendarEntry[]>;
  timeZone: string;
  pageSize: number;
  tokens: number;
  /** The time of the vendor. */
  now: () => Date;
  /** A reply instead of that of the stand-in. */
  fault: (request: Request, user: string) => Reply | null;
  /** The events that the server has made for a user, as they are now. */
  own(user: string): CalendarEntry[];
}

/** Made once, because it takes as long as a whole test. */
let keys: KeyPairKeyObjectResult | undefined;

export async function startCalendar(...users: string[]): Promise<CalendarService> {
  keys ??= generateKeyPairSync("rsa", { modulusLength: 2048 });
  const { privateKey, publicKey } = keys;
  const access = new Map<string, string>();
  const json = (status: number, body: unknown): Reply => ({
    status,
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });

  async function tokenFor({ body }: Request): Promise<Reply> {
    const form = new URLSearchParams(body.toString());
    const { payload, protectedHeader } = await jwtVerify(form.get("assertion") ?? "", publicKey, {
      issuer: EMAIL,
      audience: `${service.url}/token`,
      algorithms: ["RS256"],
      currentDate: service.now(),
    });
    const isRight =
      form.get("grant_type") === "urn:ietf:params:oauth:grant-type:jwt-bearer" &&
      payload.scope === "https://www.googleapis.com/auth/calendar.events" &&
      protectedHeader.kid === "key-1";
    if (!isRight) return json(400, { error: "invalid_request" });
    if (!service.calendars.has(payload.sub ?? ""))
      return json(400, { error: "invalid_grant", error_description: `Invalid email or User ID ${payload.sub}` });
    const text = randomUUID();
    access.set(text, payload.sub!);
    service.tokens++;
    return json(200, { access_token: text, expires_in: 3599, token_type: "Bearer" });
  }

  async function answer(request: Request): Promise<Reply> {
    const { method, url, headers, body } = request;
    if (url.pathname === "/token") return service.fault(request, "") ?? tokenFor(request);
    const user = access.get(/^Bearer (.+)$/.exec(headers.authorization ?? "")?.[1] ?? "");
    if (user === undefined) return calendarError(401, "authError");
    const fault = service.fault(request, user);
    if (fault !== null) return fault;
    const events = service.calendars.get(user)!;
    const id = /^\/v3\/calendars\/primary\/events(?:\/([^/]+))?$/.exec(url.pathname)?.[1];
    const given = body.length > 0 ? (JSON.parse(body.toString()) as CalendarEntry) : null;
    if (id === undefined) return method === "POST" ? insert(events, given!) : list(events, url);
    const found = events.find((event) => event.id === id);
    if (!found) return calendarError(404, "notFound");
    if (method === "GET") return json(200, found);
    if (found.status === "cancelled") return calendarError(410, "deleted");
    if (method === "PATCH") return json(200, Object.assign(found, given));
    found.status = "cancelled";
    return { status: 204 };
  }

  function insert(events: CalendarEntry[], given: CalendarEntry): Reply {
    if (!/^[a-v0-9]{5,1024}$/.test(given.id)) return calendarError(400, "invalid");
    if (events.some(({ id }) => id === given.id)) return calendarError(409, "duplicate");
    const event = { ...given, status: "confirmed" };
    events.push(event);
    return json(200, event);
  }

  function list(events: readonly CalendarEntry[], url: URL): Reply {
    const from = Number(url.searchParams.get("pageToken") ?? 0);
    const [least, most] = ["timeMin", "timeMax"].map((name) => Date.parse(url.searchParams.get(name)!));
    if (url.searchParams.get("singleEvents") !== "true") return calendarError(400, "invalid");
    const at = ({ dateTime, date }: CalendarEntry["start"]) => Date.parse(dateTime ?? `${date}T00:00:00Z`);
    const seen = events.filter(
      ({ status, start, end }) => status !== "cancelled" && at(end) > least! && at(start) < most!,
    );
    const to = from + service.pageSize;
    return json(200, {
      kind: "calendar#events",
      timeZone: service.timeZone,
      items: seen.slice(from, to),
      ...(to < seen.length ? { nextPageToken: String(to) } : {}),
    });
  }

  const fake = await startFake(answer);
  const service: CalendarService = Object.assign(fake, {
    settings: { google_calendar_url: `${fake.url}/v3`, google_token_url: `${fake.url}/token` },
    integration: {
      domain: DOMAIN,
      api_key_json: {
        type: "service_account",
        client_email: EMAIL,
        private_key_id: "key-1",
        private_key: privateKey.export({ type: "pkcs8", format: "pem" }) as string,
      },
    },
    calendars: new Map<string, CalendarEntry[]>(users.map((user) => [user, []])),
    timeZone: "Europe/Berlin",
    pageSize: 250,
    tokens: 0,
    now: () => new Date(),
    fault: () => null,
    own: (user: string) => (service.calendars.get(user) ?? []).filter(({ id }) => id.startsWith("svc")),
  });
  return service;
}

export const calendarError = (code: number, reason: string, headers: Record<string, string> = {}): Reply => ({
  status: code,
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify({
    error: { code, message: `${reason}: request 0123`, errors: [{ domain: "calendar", reason }] },
  }),
});
