import { id, int, ref, table, text, time } from "../../platform/store/table.ts";

declare module "../../platform/core/tables.ts" {
  interface Tables {
    readonly calendarEvents: typeof calendarEvents;
  }
}

/** The event in the calendar of a host's user: at most one for each host. */
export const calendarEvents = table("calendar_events", {
  id: id(),
  created_at: time(),
  /** Null: the host was deleted, so the event has to go. */
  host_id: ref("hosts").nullable().unique(),
  /** Address of the user, whose calendar it is in. */
  email: text(),
  /** The event's id, chosen before the event is created: a repeated request creates no second one. */
  event_id: text().unique(),
  /** `new`: not known to be in the calendar. `planned`: it is. `notified`: it has begun, and the webhook was queued. */
  state: text<"new" | "planned" | "notified">(),
  starts_at: time().nullable(),
  ends_at: time().nullable(),
  /** Time zone of the calendar, an IANA name. Empty if it is not known. */
  timezone: text().default(""),
  /** Hash of the description, which changes with the policies that the host fails. */
  text_hash: text().default(""),
  /** When the calendar is asked next; moved by the server that asks. */
  check_at: time().index(),
  failures: int().default(0),
  last_error: text().default(""),
});
