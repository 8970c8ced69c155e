// Queues commands for the profiles that hosts are to get or to remove.
import { type Context, type Services, serviceContext, within } from "../../../platform/core/context.ts";
import { groupBy } from "../../../platform/core/maps.ts";
import type { ServerTx } from "../../../platform/core/tables.ts";
import { and, eq, isNull, oneOf } from "../../../platform/store/query.ts";
import { applyEvents, changingHosts } from "../host-rows.ts";
import { type HostProfileRow, type ProfileRow, platformOf, profilePlatforms } from "../platform.ts";
import type { ProfileEvent } from "../state.ts";
import { fillContents } from "./fill.ts";
import { BATCH_SIZE, repeat } from "./repeat.ts";

/** Serializes the queueing of commands, so that two servers do not queue the same. */
const DELIVERIES = { lock: "profile-deliveries" } as const;

/** Queues commands for everything that is to be delivered. Returns how many rows were taken. */
export function deliver(services: Services, signal?: AbortSignal): Promise<number> {
  const ctx = serviceContext(services, "profiles");
  const platforms = ctx.extensions.of(profilePlatforms).map(({ name }) => name);
  const where = and(isNull("status"), oneOf("platform", platforms));
  return repeat(signal, async () => {
    // Without the lock most passes would wait for each other only to find nothing.
    if ((await ctx.store.hostProfiles.first({ where })) === null) return 0;
    return ctx.store.tx(async (store) => {
      const rows = await store.hostProfiles.list({ where, limit: BATCH_SIZE });
      await deliverRows(within(ctx, store), rows);
      return rows.length;
    }, DELIVERIES);
  });
}

async function deliverRows(inside: Context, rows: readonly HostProfileRow[]): Promise<void> {
  const { store, clock } = inside;
  const events: { row: HostProfileRow; event: ProfileEvent }[] = [];
  const digests: { id: number; variables: string }[] = [];
  const at = clock.iso();
  for (const [name, platformRows] of groupBy<HostProfileRow, ProfileRow["platform"]>(rows, (row) => row.platform)) {
    const platform = platformOf(inside, name);
    const queued = new Map<number, string | null>();
    const removals = platformRows.filter((row) => row.operation_type === "remove");
    const { gone, removable } = await apart(store, removals);
    if (removable.length > 0) for (const pair of await platform.remove(inside, removable)) queued.set(...pair);
    const { deliveries, failed } = await fillContents(inside, platformRows, digests);
    events.push(...failed);
    if (deliveries.length > 0) for (const pair of await platform.install(inside, deliveries)) queued.set(...pair);
    for (const row of platformRows)
      if (queued.has(row.id)) events.push({ row, event: { type: "queued", command_uuid: queued.get(row.id)!, at } });
    await forgetReplaced(inside, gone);
  }
  await applyEvents(inside, events);
  if (digests.length > 0) await store.hostProfiles.updateEach(digests);
}

/**
 * A removal names the identifier only. If another profile with the same one is to be installed on the host, removing
 * would remove that, so the row is dropped instead.
 */
async function apart(store: ServerTx, removals: readonly HostProfileRow[]) {
  if (removals.length === 0) return { gone: [], removable: [] };
  const others = await store.hostProfiles.pick(["host_id", "identifier", "platform"], {
    where: and(
      oneOf("host_id", [...new Set(removals.map(({ host_id }) => host_id))]),
      oneOf("identifier", [...new Set(removals.map(({ identifier }) => identifier))]),
      eq("operation_type", "install"),
    ),
  });
  const keyOf = (row: Pick<HostProfileRow, "host_id" | "platform" | "identifier">) =>
    `${row.host_id} ${row.platform} ${row.identifier}`;
  const replaced = new Set(others.map(keyOf));
  return {
    gone: removals.filter((row) => replaced.has(keyOf(row))),
    removable: removals.filter((row) => !replaced.has(keyOf(row))),
  };
}

async function forgetReplaced(inside: Context, gone: readonly HostProfileRow[]): Promise<void> {
  await changingHosts(
    inside,
    gone.map(({ host_id }) => host_id),
    async () => {
      await inside.store.hostProfiles.delete(
        oneOf(
          "id",
          gone.map(({ id }) => id),
        ),
      );
    },
  );
}
