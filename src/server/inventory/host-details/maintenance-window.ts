// When the user of a host has agreed to an interruption: an event in the user's calendar.
import type { Host } from "../../../api/hosts/host.ts";
import { type Context, isPremium } from "../../platform/core/context.ts";
import { and, eq, gt } from "../../platform/store/query.ts";

/** Null: there is no event, or it is over. Undefined on the free tier. */
export async function maintenanceWindowOf(ctx: Context, hostId: number): Promise<Host["maintenance_window"]> {
  if (!isPremium(ctx)) return undefined;
  const where = and(eq("host_id", hostId), gt("ends_at", ctx.clock.iso()));
  const event = await ctx.store.calendarEvents.first({ where });
  if (event === null || event.starts_at === null) return null;
  return { starts_at: withOffset(event.starts_at, event.timezone || "UTC"), timezone: event.timezone || null };
}

/** The instant with the offset of the time zone, for example 2026-03-02T09:00:00-05:00. */
function withOffset(instant: string, timeZone: string): string {
  const at = Date.parse(instant);
  const name = new Intl.DateTimeFormat("en-US", { timeZone, timeZoneName: "longOffset" })
    .formatToParts(at)
    .find(({ type }) => type === "timeZoneName")!.value;
  // GMT, or GMT-05:00.
  const offset = name.slice(3) || "+00:00";
  const [hours, minutes] = offset.slice(1).split(":").map(Number) as [number, number];
  const shift = (offset.startsWith("-") ? -1 : 1) * (hours * 60 + minutes) * 60_000;
  return new Date(at + shift).toISOString().slice(0, 19) + offset;
}
