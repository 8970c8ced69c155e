// When devices last checked in: kept in memory and written in bulk. Losing one flush is harmless.
import { setImmediate as breathe } from "node:timers/promises";
import type { HostRow } from "../../hosts/hosts/access.ts";
import { addSeen, seenRow, updateSeen } from "../../hosts/hosts/seen.ts";
import { writeCheckIns } from "../../hosts/mdm-status/managed.ts";
import { startFlusher } from "../../platform/core/concurrency/flusher.ts";
import type { Services } from "../../platform/core/context.ts";
import { part } from "../../platform/core/running.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, isNull, oneOf } from "../../platform/store/query.ts";

/** Rows per write, few enough not to delay other requests. */
const BATCH_SIZE = 500;
const MS = 1_000;

/** A device is asked to connect when its details are due: it counts as online until then. */
const seenDevice = ({ detail_interval }: Services["settings"], id: number, now: number) =>
  seenRow({ id, distributed_interval: detail_interval / MS, config_tls_refresh: detail_interval / MS }, now);

/** For devices that have just enrolled. Hosts with a query engine are online as that says. */
export const addSeenDevices = (
  { settings }: Pick<Services, "settings">,
  tx: ServerTx,
  hosts: readonly Pick<HostRow, "id" | "node_key_hash">[],
  now: number,
): Promise<void> => {
  const agentless = hosts.filter(({ node_key_hash }) => node_key_hash === null);
  return agentless.length === 0
    ? Promise.resolve()
    : addSeen(
        tx,
        agentless.map(({ id }) => seenDevice(settings, id, now)),
      );
};

export const deviceSeen = part("check-ins of devices", ({ store, settings, log }) => {
  let seen = new Map<number, number>();

  async function write(): Promise<void> {
    const marked = [...seen];
    seen = new Map();
    for (let from = 0; from < marked.length; from += BATCH_SIZE) {
      const batch = new Map(marked.slice(from, from + BATCH_SIZE));
      await writeCheckIns(store, batch);
      const without = and(oneOf("id", [...batch.keys()]), isNull("node_key_hash"));
      const devices = await store.hosts.pick(["id"], { where: without });
      await updateSeen(
        store,
        devices.map(({ id }) => seenDevice(settings, id, batch.get(id)!)),
        () => true,
      );
      await breathe();
    }
  }

  const flusher = startFlusher(settings.seen_flush_interval || MS, write, (err) =>
    log.warn({ err }, "the times of check-ins could not be written"),
  );
  return {
    ...flusher,
    mark(hostId: number, now: number): void {
      seen.set(hostId, now);
    },
  };
});
