// A client of the calendar's REST API, version 3. A service account acts on behalf of the user whose calendar it is.
import { createPrivateKey } from "node:crypto";
import { z } from "zod";
import type { Integrations } from "../../../api/settings/app-config.ts";
import { isoAt, seconds } from "../../platform/core/clock.ts";
import type { Services } from "../../platform/core/context.ts";
import {
  fetchVendor,
  OutboundError,
  type OutboundReply,
  type OutboundRequest,
} from "../../platform/core/outbound/fetch.ts";
import { jsonOf, retryAfterOf } from "../../platform/core/outbound/reply.ts";
import { type AccessToken, askForToken, type ServiceAccount } from "../../platform/core/outbound/service-account.ts";
import { part } from "../../platform/core/running.ts";
import { instantOf, isTimeZone, type Span } from "./slots.ts";

/**
 * `account`: the service account may not act for this user. `refused`: the calendar does not accept the request. `busy`:
 * it accepts no more requests for now. `unreachable`: no usable reply.
 */
type CalendarProblem = "account" | "refused" | "busy" | "unreachable";

/** The message may be shown to admins. */
export class CalendarError extends Error {
  readonly problem: CalendarProblem;
  readonly status: number | null;
  /** Milliseconds after which to try again, if the calendar named a time. */
  readonly retryAfter: number | null;

  constructor(problem: CalendarProblem, message: string, more: { status?: number; retryAfter?: number | null } = {}) {
    super(message);
    this.problem = problem;
    this.status = more.status ?? null;
    this.retryAfter = more.retryAfter ?? null;
  }
}

interface NewEvent extends Span {
  readonly id: string;
  readonly summary: string;
  readonly description: string;
  readonly timeZone: string;
}

interface CalendarClient {
  /** The user's time zone, and when they have other events. */
  busy(from: number, to: number): Promise<{ timeZone: string; spans: Span[] }>;
  /** Creates the event. If it exists already, returns when it takes place. */
  create(event: NewEvent): Promise<Span>;
  /** When the event takes place now; null: the user has deleted it. */
  find(id: string): Promise<Span | null>;
  describe(id: string, description: string): Promise<void>;
  /** Does nothing if the event does not exist. */
  remove(id: string): Promise<void>;
}

type Entry = Integrations["calendar"][number];
type Deps = Pick<Services, "running" | "dryRun" | "settings" | "clock">;

const SCOPE = "https://www.googleapis.com/auth/calendar.events";
const TIMEOUT = seconds(30);
const MAX_BYTES = 8 * 1024 * 1024;
const BATCH_SIZE = 250;
const MAX_PAGES = 20;
const TOKENS_MAX = 20_000;

/** Access tokens, by account and user. Every server gets its own. */
const tokens = part("tokens for calendars", () => new Map<string, AccessToken>());

const Moment = z.object({ dateTime: z.string().optional(), date: z.string().optional() });
const Event = z.object({
  id: z.string().optional(),
  status: z.string().optional(),
  start: Moment.optional(),
  end: Moment.optional(),
  transparency: z.string().optional(),
  attendees: z.array(z.object({ self: z.boolean().optional(), responseStatus: z.string().optional() })).optional(),
});
type Event = z.output<typeof Event>;
const Events = z.object({
  timeZone: z.string().optional(),
  items: z.array(Event).default([]),
  nextPageToken: z.string().max(4096).optional(),
});
const Failure = z.object({
  error: z.union([
    z.string(),
    z.object({ errors: z.array(z.object({ reason: z.string() })).default([]), message: z.string().default("") }),
  ]),
});

function accountOf({ api_key_json: key }: Entry): ServiceAccount {
  const text = (name: string): string => (typeof key[name] === "string" ? key[name] : "");
  try {
    const privateKey = createPrivateKey(text("private_key"));
    if (privateKey.asymmetricKeyType !== "rsa") throw new Error("not an RSA key");
    return { email: text("client_email"), keyId: text("private_key_id"), key: privateKey };
  } catch {
    throw new CalendarError("account", "the private_key of the calendar integration is not an RSA key in PEM");
  }
}

export function calendarClient(services: Deps, entry: Entry, user: string): CalendarClient {
  const base = `${services.settings.google_calendar_url.replace(/\/+$/, "")}/calendars/primary/events`;
  const account = accountOf(entry);
  const cachedTokens = services.running.of(tokens);
  const name = JSON.stringify([account.email, account.keyId, user]);

  async function accessToken(): Promise<string> {
    const cached = cachedTokens.get(name);
    if (cached && cached.until > services.clock.now()) return cached.text;
    const answer = await reached(() => askForToken(services, account, { scope: SCOPE, subject: user }));
    if ("refusal" in answer) throw tokenProblem(answer.refusal);
    if (cachedTokens.size >= TOKENS_MAX) cachedTokens.clear();
    cachedTokens.set(name, answer.token);
    return answer.token.text;
  }

  async function call(method: NonNullable<OutboundRequest["method"]>, path: string, body?: object) {
    for (let attempt = 1; ; attempt++) {
      const authorization = `Bearer ${await accessToken()}`;
      const reply = await reached(() =>
        fetchVendor(services, `${base}${path}`, {
          method,
          headers: { authorization, ...(body && { "content-type": "application/json" }) },
          ...(body && { body: JSON.stringify(body) }),
          timeout: TIMEOUT,
          maxBytes: MAX_BYTES,
        }),
      );
      if (reply.status !== 401 || attempt > 1) return reply;
      cachedTokens.delete(name);
    }
  }

  async function find(id: string): Promise<Span | null> {
    const reply = await call("GET", `/${encodeURIComponent(id)}`);
    if (isGone(reply)) return null;
    const event = read(Event, reply);
    return event.status === "cancelled" ? null : spanOf(event, "UTC");
  }

  return {
    async busy(from, to) {
      let timeZone = "UTC";
      const found: Event[] = [];
      let page: string | undefined;
      for (let read_ = 0; read_ < MAX_PAGES; read_++) {
        const query = new URLSearchParams({
          timeMin: isoAt(from),
          timeMax: isoAt(to),
          singleEvents: "true",
          maxResults: String(BATCH_SIZE),
          ...(page === undefined ? {} : { pageToken: page }),
        });
        const events = read(Events, await call("GET", `?${query}`));
        if (events.timeZone !== undefined && isTimeZone(events.timeZone)) timeZone = events.timeZone;
        found.push(...events.items.filter(isBusy));
        page = events.nextPageToken;
        if (page === undefined) break;
      }
      return { timeZone, spans: found.flatMap((event) => spanOf(event, timeZone) ?? []) };
    },
    async create({ id, start, end, summary, description, timeZone }) {
      const body = {
        id,
        summary,
        description,
        start: { dateTime: isoAt(start), timeZone },
        end: { dateTime: isoAt(end), timeZone },
        transparency: "opaque",
      };
      const reply = await call("POST", "?sendUpdates=none", body);
      // An earlier request has created it, although its reply did not arrive.
      if (reply.status === 409) return (await find(id)) ?? { start, end };
      read(Event, reply);
      return { start, end };
    },
    find,
    async describe(id, description) {
      const reply = await call("PATCH", `/${encodeURIComponent(id)}?sendUpdates=none`, { description });
      if (!isGone(reply)) read(Event, reply);
    },
    async remove(id) {
      const reply = await call("DELETE", `/${encodeURIComponent(id)}?sendUpdates=none`);
      if (reply.status !== 204 && reply.status !== 200 && !isGone(reply)) throw problemOf(reply);
    },
  };
}

async function reached<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof OutboundError) throw new CalendarError("unreachable", error.message);
    throw error;
  }
}

const isGone = ({ status }: OutboundReply): boolean => status === 404 || status === 410;

function read<T>(schema: z.ZodType<T>, reply: OutboundReply): T {
  if (reply.status !== 200) throw problemOf(reply);
  const parsed = schema.safeParse(jsonOf(reply));
  if (!parsed.success) throw new CalendarError("unreachable", "a reply of the calendar is not valid");
  return parsed.data;
}

const isBusy = ({ status, transparency, attendees = [] }: Event): boolean =>
  status !== "cancelled" &&
  transparency !== "transparent" &&
  !attendees.some(({ self, responseStatus }) => self === true && responseStatus === "declined");

/** Null if it has no valid times. Days without times begin and end at midnight of the user. */
function spanOf({ start, end }: Event, timeZone: string): Span | null {
  const at = (moment: z.output<typeof Moment> | undefined): number => {
    if (moment?.dateTime !== undefined) return Date.parse(moment.dateTime);
    const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(moment?.date ?? "") ?? [];
    if (year === undefined) return Number.NaN;
    return instantOf({ year: Number(year), month: Number(month), day: Number(day) }, 0, timeZone);
  };
  const span = { start: at(start), end: at(end) };
  return span.end >= span.start ? span : null;
}

const busyProblem = (reply: OutboundReply): CalendarError => {
  const wait = retryAfterOf(reply);
  return new CalendarError("busy", "the calendar accepts no more requests for now", {
    status: reply.status,
    retryAfter: wait === null ? null : seconds(wait),
  });
};

function tokenProblem(reply: OutboundReply): CalendarError {
  const { status } = reply;
  if (status === 429 || status === 503) return busyProblem(reply);
  const failure = Failure.safeParse(jsonOf(reply));
  const code = failure.success && typeof failure.data.error === "string" ? failure.data.error : "";
  if (status >= 400 && status < 500)
    return new CalendarError(
      "account",
      `the token service gives the service account no access to the user's calendar${/^[a-z_]{1,64}$/.test(code) ? ` (${code})` : ""}`,
      { status },
    );
  return new CalendarError("unreachable", `the token service answered with status ${status}`, { status });
}

const RATE_LIMITS = ["rateLimitExceeded", "userRateLimitExceeded", "quotaExceeded"];

function problemOf(reply: OutboundReply): CalendarError {
  const { status } = reply;
  const failure = Failure.safeParse(jsonOf(reply));
  const reasons =
    failure.success && typeof failure.data.error !== "string"
      ? failure.data.error.errors.map(({ reason }) => reason)
      : [];
  const reason = /^[A-Za-z]{1,64}$/.test(reasons[0] ?? "") ? ` (${reasons[0]})` : "";
  if (status === 429 || status === 503 || (status === 403 && reasons.some((each) => RATE_LIMITS.includes(each))))
    return busyProblem(reply);
  if (status === 401 || status === 403)
    return new CalendarError("account", `the service account may not use the user's calendar${reason}`, { status });
  if (status >= 400 && status < 500)
    return new CalendarError("refused", `the calendar refused the request with status ${status}${reason}`, { status });
  return new CalendarError("unreachable", `the calendar answered with status ${status}`, { status });
}
