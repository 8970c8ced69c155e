// Records which hosts were online in each hour.
import { hours, minutes } from "../../platform/core/clock.ts";
import type { Services } from "../../platform/core/context.ts";
import { and, type Predicate } from "../../platform/store/query.ts";
import { onlineDuring } from "../host-contact/contact.ts";
import { addToHour, hourOf } from "./hours.ts";
import { hostBits } from "./recorded.ts";

export const UPTIME = "uptime";

/** After a longer pause of the server, earlier hours stay as they were recorded. */
const MAX_HOURS = 24;

/**
 * The stored times of contact show who was online since the last sample, so few samples are needed. They cannot show a
 * host that was online only shortly before it came back online after this time.
 */
export const UPTIME_EVERY = minutes(5);

/**
 * Adds the hosts that were online in the current hour, and in those since the last sample. Samples may be repeated: a
 * server that was killed loses nothing that the next sample does not add.
 */
export async function sampleUptime(
  { store, clock, settings }: Pick<Services, "store" | "clock" | "settings">,
  recorded: Predicate,
  last: number | null,
  signal: AbortSignal,
): Promise<void> {
  const current = hourOf(clock.now());
  const first = Math.max(hourOf(last ?? current), current - hours(MAX_HOURS));
  for (let hour = Math.min(first, current); hour <= current && !signal.aborted; hour += hours(1)) {
    const online = onlineDuring(hour, hour + hours(1), settings.detail_interval);
    await addToHour(store, UPTIME, hour, await hostBits(store, and(recorded, online)));
  }
}
