// Keeps the calendars of users in line with the policies that their hosts fail. Every server may do any step: a step
// belongs to the server that has moved its time, and a repeated one changes nothing.

import { hostEmails, type hosts } from "../../hosts/hosts/tables.ts";
import { recordActivity } from "../../platform/activities/record.ts";
import { days, hours, isoAt, minutes } from "../../platform/core/clock.ts";
import { parts } from "../../platform/core/concurrency/parts.ts";
import { type Context, isPremium, type Services, serviceContext, within } from "../../platform/core/context.ts";
import type { Job } from "../../platform/core/job.ts";
import { checkDestination } from "../../platform/core/outbound/fetch.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { enqueue } from "../../platform/outbox/service.ts";
import { recordRuns } from "../../platform/policy-runs/record.ts";
import { and, eq, exists, not } from "../../platform/store/query.ts";
import type { RowOf } from "../../platform/store/table.ts";
import { CalendarClient } from "./client.ts";
import {
  type CalendarEntry,
  type Calendars,
  calendarsOf,
  type DesiredEvent,
  desiredEvents,
  domainOf,
  failingIn,
  type WantingTeam,
  wantingTeams,
} from "./desired.ts";
import { CalendarError } from "./problems.ts";
import { chooseTime, LOOK_AHEAD, type Span } from "./slots.ts";
import { calendarEvents } from "./tables.ts";
import { descriptionOf, hashOf, TITLE } from "./texts.ts";

type EventRow = RowOf<typeof calendarEvents>;
type HostRow = RowOf<typeof hosts>;

/** Users may have moved their event. */
const CHECKED_EVERY = minutes(30);
/** Another server does not take a step again before this time. */
const CLAIM = minutes(10);
/** After an event, a host that still fails gets none for this long. */
const REST = days(7);
const MIN_RETRY_WAIT = minutes(5);
const MAX_RETRY_WAIT = hours(24);
const MAX_BUSY_WAIT = hours(1);
const BATCH_SIZE = 500;
const MAX_CONCURRENT = 8;

export const calendarJob: Job = {
  name: "calendar",
  every: minutes(5),
  async run(services, signal) {
    const calendars = await calendarsOf(services);
    const isOn = calendars.size > 0 && isPremium(services);
    const teams = !isOn ? new Map<number, WantingTeam>() : await wantingTeams(services.store);
    for (const team of teams.values()) await plan(services, { teams, calendars, team, signal });
    const { org_info } = await services.config.current();
    const run: Run = { services, teams, calendars, organization: org_info.org_name, paused: new Set() };
    for await (const rows of services.store.calendarEvents.pages({}, BATCH_SIZE)) {
      if (signal.aborted) return;
      await keepPage(run, rows, signal);
    }
  },
};

interface Planning {
  readonly teams: ReadonlyMap<number, WantingTeam>;
  readonly calendars: Calendars;
  readonly team: WantingTeam;
  readonly signal: AbortSignal;
}

/** Adds rows for hosts that have none. Nothing is sent yet. */
async function plan(services: Services, { teams, calendars, team, signal }: Planning): Promise<void> {
  const { store, clock } = services;
  const where = and(failingIn(team), exists(hostEmails, "host_id"), not(exists(calendarEvents, "host_id")));
  for await (const rows of store.hosts.pages({ where }, BATCH_SIZE)) {
    if (signal.aborted) return;
    await store.tx(async (tx) => {
      const desired = await desiredEvents(tx, teams, calendars, rows);
      const now = clock.iso();
      const added = [...desired].map(([host_id, { email }]) => ({
        created_at: now,
        host_id,
        email,
        event_id: newEventId(services),
        state: "new" as const,
        check_at: now,
      }));
      if (added.length > 0) await tx.calendarEvents.upsert(added, { on: ["host_id"], set: [], returning: [] });
    });
  }
}

/** Calendars accept ids of lower-case letters from a to v and digits. */
const newEventId = ({ random }: Pick<Services, "random">): string =>
  `svc${Buffer.from(random.token(20), "base64url").toString("hex")}`;

interface Run {
  readonly services: Services;
  readonly teams: ReadonlyMap<number, WantingTeam>;
  readonly calendars: Calendars;
  readonly organization: string;
  /** The domains whose calendars accept no more requests in this run. */
  readonly paused: Set<string>;
}

async function keepPage(run: Run, rows: readonly EventRow[], signal: AbortSignal): Promise<void> {
  const { store } = run.services;
  const hosts = await store.hosts.getMany(rows.flatMap(({ host_id }) => host_id ?? []));
  const desired = await desiredEvents(store, run.teams, run.calendars, hosts);
  const hostsById = new Map(hosts.map((host) => [host.id, host]));
  for await (const batch of parts(rows, MAX_CONCURRENT)) {
    if (signal.aborted) return;
    await Promise.all(
      batch.map((row) => {
        const host = row.host_id === null ? undefined : hostsById.get(row.host_id);
        return keepEvent(run, row, host, host && desired.get(host.id));
      }),
    );
  }
}

async function keepEvent(
  run: Run,
  row: EventRow,
  host: HostRow | undefined,
  desired: DesiredEvent | undefined,
): Promise<void> {
  const domain = domainOf(row.email);
  const entry = run.calendars.get(domain);
  if (run.paused.has(domain)) return;
  try {
    if (host && desired && desired.email === row.email) await follow(run, row, host, desired);
    else await drop(run, row, entry);
  } catch (error) {
    if (!(error instanceof CalendarError)) throw error;
    if (error.problem === "busy") run.paused.add(domain);
    await recordFailure(run.services, row, error, desired);
  }
}

/** The row if no other server is at it. Its next time is later than a request takes. */
async function claim({ store, clock }: Services, row: EventRow): Promise<boolean> {
  const isMine = and(eq("id", row.id), eq("event_id", row.event_id), eq("check_at", row.check_at));
  return (await store.calendarEvents.update({ where: isMine, set: { check_at: isoAt(clock.now() + CLAIM) } })) > 0;
}

/** The event is not wanted any more: the host passes, belongs to another team or user, or does not exist. */
async function drop({ services }: Run, row: EventRow, entry: CalendarEntry | undefined): Promise<void> {
  const { store, clock } = services;
  const now = clock.iso();
  const hasBegun = row.state === "notified" || (row.starts_at !== null && row.starts_at <= now);
  // Without the integration, there is no access to the calendar any more.
  if (!hasBegun && entry !== undefined) {
    // Another server may be creating it, or the calendar has to be left alone for a while.
    const isHeld = (row.state === "new" || row.failures > 0) && row.check_at > now;
    if (isHeld || !(await claim(services, row))) return;
    await new CalendarClient(services, entry, row.email).remove(row.event_id);
  }
  await store.calendarEvents.delete(and(eq("id", row.id), eq("event_id", row.event_id)));
}

async function follow(run: Run, row: EventRow, host: HostRow, desired: DesiredEvent): Promise<void> {
  const { services } = run;
  const now = services.clock.iso();
  const isDue = row.check_at <= now;
  const description = descriptionOf({
    organization: run.organization,
    hostName: host.display_name,
    policies: desired.policies,
  });
  if (row.state === "notified") {
    const isRested = isoAt(Date.parse(row.ends_at!) + REST) <= now;
    if (isRested) await planAgain(services, row);
    return;
  }
  if (row.state === "new") {
    if (isDue && (await claim(services, row))) await create(services, row, desired, description);
    return;
  }
  const hasNewText = row.text_hash !== hashOf(description) && row.failures === 0;
  if (!(isDue || hasNewText) || !(await claim(services, row))) return;
  const client = new CalendarClient(services, desired.entry, row.email);
  const span = await client.find(row.event_id);
  if (span === null) return planAgain(services, row);
  if (isoAt(span.start) <= now) return begin(services, row, { host, desired, span });
  if (hasNewText) await client.describe(row.event_id, description);
  await storePlanned(services, row, { span, description, timezone: row.timezone });
}

async function create(services: Services, row: EventRow, desired: DesiredEvent, description: string): Promise<void> {
  const client = new CalendarClient(services, desired.entry, row.email);
  const now = services.clock.now();
  const { timeZone, spans } = await client.busy(now, now + LOOK_AHEAD);
  const time = chooseTime(now, timeZone, spans);
  const span = await client.create({ ...time, id: row.event_id, summary: TITLE, description, timeZone });
  const isKept = await services.store.tx(async (store) => {
    if (!(await storePlanned({ ...services, store }, row, { span, description, timezone: timeZone }))) return false;
    const ctx = within(serviceContext(services), store);
    for (const { id: policy_id, name: policy_name } of desired.policies) {
      const about = { policy_id, policy_name, status_code: 200 };
      await recordRun(ctx, row, policy_id, await recordActivity(ctx, "ran_automation_calendar_event", about), true);
    }
    return true;
  });
  if (!isKept) await client.remove(row.event_id);
}

type Writing = Pick<Services, "clock"> & { readonly store: ServerTx };

/** The event is in the calendar. Returns false if the row is about another one now. */
async function storePlanned(
  { store, clock }: Writing,
  row: EventRow,
  { span, description, timezone }: { span: Span; description: string; timezone: string },
): Promise<boolean> {
  const set = {
    state: "planned",
    starts_at: isoAt(span.start),
    ends_at: isoAt(span.end),
    timezone,
    text_hash: hashOf(description),
    check_at: isoAt(Math.min(clock.now() + CHECKED_EVERY, span.start)),
    failures: 0,
    last_error: "",
  } as const;
  return (await store.calendarEvents.update({ where: sameEvent(row), set })) > 0;
}

const sameEvent = ({ id, event_id }: EventRow) => and(eq("id", id), eq("event_id", event_id));

/** Another event, on the next working days: the user has deleted the last one, it was missed, or it was long ago. */
async function planAgain(services: Services, row: EventRow): Promise<void> {
  const set = {
    event_id: newEventId(services),
    state: "new",
    starts_at: null,
    ends_at: null,
    timezone: "",
    text_hash: "",
    check_at: services.clock.iso(),
    failures: 0,
    last_error: "",
  } as const;
  await services.store.calendarEvents.update({ where: sameEvent(row), set });
}

interface NewEvent {
  readonly host: HostRow;
  readonly desired: DesiredEvent;
  readonly span: Span;
}

/** Notifies the team that the event has begun, once. */
async function begin(services: Services, row: EventRow, { host, desired, span }: NewEvent): Promise<void> {
  const now = services.clock.now();
  // No server was running: the time is over, and the user may be at work again.
  if (span.end <= now) return planAgain(services, row);
  await services.store.tx(async (store) => {
    const set = { state: "notified", starts_at: isoAt(span.start), ends_at: isoAt(span.end), failures: 0 } as const;
    const isPlanned = and(sameEvent(row), eq("state", "planned"));
    if ((await store.calendarEvents.update({ where: isPlanned, set })) === 0) return;
    const { webhookUrl: url, id: team_id } = desired.team;
    if (checkDestination(url) !== null) return;
    const payload = {
      timestamp: isoAt(now),
      host_id: host.id,
      host_display_name: host.display_name,
      host_serial_number: host.hardware_serial,
      failing_policies: desired.policies.map(({ id, name }) => ({ id, name })),
    };
    await enqueue(store, services, {
      kind: "webhook",
      event: "calendar_event",
      destination: url,
      url,
      payload,
      team_id,
    });
  });
}

/** The step is tried again, later each time. A new reason is recorded. */
async function recordFailure(
  services: Services,
  row: EventRow,
  error: CalendarError,
  desired: DesiredEvent | undefined,
): Promise<void> {
  const { clock, log } = services;
  const isPassing = error.problem === "busy" || error.problem === "unreachable";
  const most = isPassing ? MAX_BUSY_WAIT : MAX_RETRY_WAIT;
  const wait = Math.max(error.retryAfter ?? 0, Math.min(most, MIN_RETRY_WAIT * 2 ** Math.min(row.failures, 20)));
  log.warn({ host_id: row.host_id, problem: error.message }, "a calendar cannot be changed; trying again");
  await services.store.tx(async (store) => {
    const set = { failures: row.failures + 1, last_error: error.message, check_at: isoAt(clock.now() + wait) };
    if ((await store.calendarEvents.update({ where: sameEvent(row), set })) === 0) return;
    if (error.message === row.last_error) return;
    const ctx = within(serviceContext(services), store);
    const status = error.status === null ? {} : { status_code: error.status };
    for (const { id: policy_id, name: policy_name } of desired?.policies ?? []) {
      const about = { policy_id, policy_name, ...status, error_response: error.message };
      await recordRun(ctx, row, policy_id, await recordActivity(ctx, "failed_automation_calendar_event", about), false);
    }
  });
}

const recordRun = (ctx: Context, { host_id }: EventRow, policyId: number, activityId: number, isSuccess: boolean) =>
  recordRuns(ctx, { policyId, hostIds: host_id === null ? [] : [host_id], activityId, isSuccess });
