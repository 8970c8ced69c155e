// When an event takes place: on a working day of the user, in working hours, when nothing else is in the calendar.
import { days, hours, minutes } from "../../platform/core/clock.ts";

export interface Span {
  /** Milliseconds since 1970. */
  readonly start: number;
  readonly end: number;
}

const EVENT_LENGTH = minutes(30);
const FIRST_HOUR = 9;
const LAST_HOUR = 17;
/** From tomorrow on: contains five working days. */
const PLANNED_DAYS = 7;
/** What has to be known of the calendar to choose a time. */
export const LOOK_AHEAD = days(PLANNED_DAYS + 2);

export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en-US", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

interface LocalDate {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

function localParts(at: number, timeZone: string) {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
  const parts = new Map(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
  const of = (type: Intl.DateTimeFormatPartTypes) => parts.get(type)!;
  return {
    year: of("year"),
    month: of("month"),
    day: of("day"),
    hour: of("hour"),
    minute: of("minute"),
    second: of("second"),
  };
}

/** The instant at which clocks in the time zone show this time. */
export function instantOf({ year, month, day }: LocalDate, minutesOfDay: number, timeZone: string): number {
  const shown = Date.UTC(year, month - 1, day) + minutes(minutesOfDay);
  const shownAt = (at: number): number => {
    const local = localParts(at, timeZone);
    return Date.UTC(local.year, local.month - 1, local.day, local.hour, local.minute, local.second);
  };
  // The offset of the first guess may be that before a change of the clocks, so it is corrected once.
  const guess = shown - (shownAt(shown) - shown);
  return guess - (shownAt(guess) - shown);
}

/**
 * The first free half hour between 9 and 17 on the next working days. If there is none, the last half hour of the first
 * of these days.
 */
export function chooseTime(now: number, timeZone: string, busy: readonly Span[]): Span {
  const working = nextDays(now, timeZone).filter((date) => isWorkingDay(date));
  for (const date of working)
    for (let minute = FIRST_HOUR * 60; minute < LAST_HOUR * 60; minute += 30) {
      const span = spanAt(date, minute, timeZone);
      if (busy.every(({ start, end }) => end <= span.start || start >= span.end)) return span;
    }
  return spanAt(working[0]!, LAST_HOUR * 60 - 30, timeZone);
}

function spanAt(date: LocalDate, minute: number, timeZone: string): Span {
  const start = instantOf(date, minute, timeZone);
  return { start, end: start + EVENT_LENGTH };
}

function nextDays(now: number, timeZone: string): LocalDate[] {
  const { year, month, day } = localParts(now, timeZone);
  return Array.from({ length: PLANNED_DAYS }, (_, at) => {
    // Noon, because days in UTC have 24 hours.
    const date = new Date(Date.UTC(year, month - 1, day) + days(at + 1) + hours(12));
    return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() };
  });
}

const isWorkingDay = ({ year, month, day }: LocalDate): boolean =>
  ![0, 6].includes(new Date(Date.UTC(year, month - 1, day)).getUTCDay());
