// Activities that a host causes without anybody's request: it could cause any number of them.
import { minutes } from "../core/clock.ts";
import { grant, grantUnequal, hostLimit, type LimitServices } from "../host-limits/usage.ts";
import { type Recorder, recordActivity } from "./record.ts";
import type { ActivityTypes } from "./types.ts";

export const HOST_ACTIVITIES = hostLimit("activities", {
  what: "activities of one type that a host causes, such as enrollments and escrowed disk keys",
  max: 50,
  unit: "entries",
  period: 24 * 3_600_000,
  beyond: "Further ones are not recorded. Equal ones within ten minutes are recorded once.",
});
/** An activity that equals the host's last one of its type is not recorded again for this long. */
const MERGED_FOR = minutes(10);

type HostRecorder = Recorder & LimitServices;

const limitOf = (type: keyof ActivityTypes) => ({ ...HOST_ACTIVITIES, name: `${HOST_ACTIVITIES.name} ${type}` });

/** Records an activity that a host has caused. `isListed`: under the host, too. */
export async function recordHostActivity<T extends keyof ActivityTypes>(
  ctx: HostRecorder,
  hostId: number,
  type: T,
  details: ActivityTypes[T],
  { isListed = true }: { readonly isListed?: boolean } = {},
): Promise<void> {
  if (!(await grantUnequal(ctx, limitOf(type), hostId, { content: JSON.stringify(details), mergedFor: MERGED_FOR })))
    return;
  await recordActivity(ctx, type, details, isListed ? { hostId } : {});
}

/** The hosts that may cause one more activity of this type, which is recorded for all of them together. */
export async function hostsToRecord(
  services: LimitServices,
  hostIds: readonly number[],
  type: keyof ActivityTypes,
): Promise<ReadonlySet<number>> {
  const granted = await grant(services, limitOf(type), new Map(hostIds.map((id) => [id, 1])));
  return new Set(hostIds.filter((id) => granted.get(id) === 1));
}
