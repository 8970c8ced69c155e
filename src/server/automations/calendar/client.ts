// A client of the calendar's REST API, version 3. A service account acts on behalf of the user whose calendar it is.
import { createPrivateKey } from "node:crypto";
import { z } from "zod";
import type { Integrations } from "../../../api/settings/app-config.ts";
import { isoAt, seconds } from "../../platform/core/clock.ts";
import type { Services } from "../../platform/core/context.ts";
import { fetchVendor, type OutboundReply, type OutboundRequest } from "../../platform/core/outbound/fetch.ts";
import { jsonOf } from "../../platform/core/outbound/reply.ts";
import { type AccessToken, askForToken, type ServiceAccount } from "../../platform/core/outbound/service-account.ts";
import { part } from "../../platform/core/running.ts";
import { CalendarError, calendarProblem, reached, tokenProblem } from "./problems.ts";
import { instantOf, isTimeZone, type Span } from "./slots.ts";

interface NewEvent extends Span {
  readonly id: string;
  readonly summary: string;
  readonly description: string;
  readonly timeZone: string;
}

type Entry = Integrations["calendar"][number];
type Deps = Pick<Services, "running" | "dryRun" | "settings" | "clock">;

const SCOPE = "https://www.googleapis.com/auth/calendar.events";
const TIMEOUT = seconds(30);
const MAX_BYTES = 8 * 1024 * 1024;
const PAGE_SIZE = 250;
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

/** A user's calendar. */
export class CalendarClient {
  readonly #services: Deps;
  readonly #base: string;
  readonly #account: ServiceAccount;
  readonly #user: string;
  readonly #tokens: Map<string, AccessToken>;
  readonly #tokenKey: string;

  constructor(services: Deps, entry: Entry, user: string) {
    this.#services = services;
    this.#base = `${services.settings.google_calendar_url.replace(/\/+$/, "")}/calendars/primary/events`;
    this.#account = accountOf(entry);
    this.#user = user;
    this.#tokens = services.running.of(tokens);
    this.#tokenKey = JSON.stringify([this.#account.email, this.#account.keyId, user]);
  }

  /** The user's time zone, and when they have other events. */
  async busy(from: number, to: number): Promise<{ timeZone: string; spans: Span[] }> {
    let timeZone = "UTC";
    const busy: Event[] = [];
    let page: string | undefined;
    for (let pages = 0; pages < MAX_PAGES; pages++) {
      const query = new URLSearchParams({
        timeMin: isoAt(from),
        timeMax: isoAt(to),
        singleEvents: "true",
        maxResults: String(PAGE_SIZE),
        ...(page === undefined ? {} : { pageToken: page }),
      });
      const events = read(Events, await this.#call("GET", `?${query}`));
      if (events.timeZone !== undefined && isTimeZone(events.timeZone)) timeZone = events.timeZone;
      busy.push(...events.items.filter(isBusy));
      page = events.nextPageToken;
      if (page === undefined) break;
    }
    return { timeZone, spans: busy.flatMap((event) => spanOf(event, timeZone) ?? []) };
  }

  /** Creates the event. If it exists already, returns when it takes place. */
  async create({ id, start, end, summary, description, timeZone }: NewEvent): Promise<Span> {
    const body = {
      id,
      summary,
      description,
      start: { dateTime: isoAt(start), timeZone },
      end: { dateTime: isoAt(end), timeZone },
      transparency: "opaque",
    };
    const reply = await this.#call("POST", "?sendUpdates=none", body);
    // An earlier request has created it, although its reply did not arrive.
    if (reply.status === 409) return (await this.find(id)) ?? { start, end };
    read(Event, reply);
    return { start, end };
  }

  /** When the event takes place now; null: the user has deleted it. */
  async find(id: string): Promise<Span | null> {
    const reply = await this.#call("GET", `/${encodeURIComponent(id)}`);
    if (isGone(reply)) return null;
    const event = read(Event, reply);
    return event.status === "cancelled" ? null : spanOf(event, "UTC");
  }

  async describe(id: string, description: string): Promise<void> {
    const reply = await this.#call("PATCH", `/${encodeURIComponent(id)}?sendUpdates=none`, { description });
    if (!isGone(reply)) read(Event, reply);
  }

  /** Does nothing if the event does not exist. */
  async remove(id: string): Promise<void> {
    const reply = await this.#call("DELETE", `/${encodeURIComponent(id)}?sendUpdates=none`);
    if (reply.status !== 204 && reply.status !== 200 && !isGone(reply)) throw calendarProblem(reply);
  }

  async #call(method: NonNullable<OutboundRequest["method"]>, path: string, body?: object): Promise<OutboundReply> {
    for (let attempt = 1; ; attempt++) {
      const authorization = `Bearer ${await this.#accessToken()}`;
      const reply = await reached(() =>
        fetchVendor(this.#services, `${this.#base}${path}`, {
          method,
          headers: { authorization, ...(body && { "content-type": "application/json" }) },
          ...(body && { body: JSON.stringify(body) }),
          timeout: TIMEOUT,
          maxBytes: MAX_BYTES,
        }),
      );
      if (reply.status !== 401 || attempt > 1) return reply;
      this.#tokens.delete(this.#tokenKey);
    }
  }

  async #accessToken(): Promise<string> {
    const cached = this.#tokens.get(this.#tokenKey);
    if (cached && cached.until > this.#services.clock.now()) return cached.text;
    const answer = await reached(() =>
      askForToken(this.#services, this.#account, { scope: SCOPE, subject: this.#user }),
    );
    if ("refusal" in answer) throw tokenProblem(answer.refusal);
    if (this.#tokens.size >= TOKENS_MAX) this.#tokens.clear();
    this.#tokens.set(this.#tokenKey, answer.token);
    return answer.token.text;
  }
}

const isGone = ({ status }: OutboundReply): boolean => status === 404 || status === 410;

function read<T>(schema: z.ZodType<T>, reply: OutboundReply): T {
  if (reply.status !== 200) throw calendarProblem(reply);
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
