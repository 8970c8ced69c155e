// Sets of hosts by hour: for which hosts something was true at any moment of it.
import { hours, isoAt } from "../../platform/core/clock.ts";
import { steps } from "../../platform/core/concurrency/parts.ts";
import type { Services } from "../../platform/core/context.ts";
import type { ServerStore, ServerTx } from "../../platform/core/tables.ts";
import { and, eq, gt, gte, lt } from "../../platform/store/query.ts";
import { decodedSets } from "./decoded-sets.ts";
import { deleteInSteps } from "./delete-in-steps.ts";
import { HostBits } from "./host-set.ts";

const HOUR = hours(1);
/** Rows that one transaction changes. */
const BATCH_SIZE = 20;
const byId = [{ column: "id", direction: "asc" }] as const;

export const hourOf = (time: number): number => time - (time % HOUR);

/** Adds hosts to those of the hour. Servers that do so at the same time wait for each other, so that none is lost. */
export async function addToHour(store: ServerTx, metric: string, start: number, added: HostBits): Promise<void> {
  if (added.size === 0) return;
  const hour = isoAt(start);
  await store.tx(
    async (tx) => {
      const row = await tx.historyHours.first({ where: and(eq("metric", metric), eq("hour", hour)) });
      const bits = row === null ? new HostBits() : HostBits.decode(row.hosts);
      bits.addAll(added);
      const hosts = bits.encode();
      if (hosts !== row?.hosts)
        await tx.historyHours.upsert([{ metric, hour, hosts }], { on: ["metric", "hour"], returning: [] });
    },
    { lock: "history" },
  );
}

/** The sets of the hours that begin in this time, by the start of the hour. They must not be changed. */
export async function readHours(
  { store, running }: Pick<Services, "running"> & { readonly store: ServerTx },
  metric: string,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<Map<number, HostBits>> {
  const rows = await store.historyHours.pick(["id", "hour", "revision"], {
    where: and(eq("metric", metric), gte("hour", isoAt(from)), lt("hour", isoAt(to))),
  });
  const decoding = {
    rows: store.historyHours,
    column: "hosts",
    decode: (text: unknown) => HostBits.decode(text as string),
    bytesOf: (bits: HostBits) => bits.byteLength,
  } as const;
  const sets = await running.of(decodedSets).read(decoding, rows);
  return new Map(
    rows.flatMap(({ id, hour }) => {
      const bits = sets.get(id);
      return bits ? [[Date.parse(hour), bits] as const] : [];
    }),
  );
}

/** Deletes the hours before that time. */
export const trimHours = (store: ServerStore, metric: string, before: number, signal: AbortSignal): Promise<void> =>
  deleteInSteps(store.historyHours, and(eq("metric", metric), lt("hour", isoAt(before))), signal);

/** Deletes these hosts from all hours, or, without hosts, all hours. */
export async function clearHours(
  store: ServerStore,
  metric: string,
  hosts: HostBits | null,
  signal: AbortSignal,
): Promise<void> {
  if (hosts === null) return deleteInSteps(store.historyHours, eq("metric", metric), signal);
  const rest = steps();
  for (let last = 0; !signal.aborted; await rest()) {
    last = await store.tx(
      async (tx) => {
        const rows = await tx.historyHours.list({
          where: and(eq("metric", metric), gt("id", last)),
          order: byId,
          limit: BATCH_SIZE,
        });
        for (const row of rows) {
          const bits = HostBits.decode(row.hosts);
          bits.removeAll(hosts);
          const text = bits.encode();
          if (bits.size === 0) await tx.historyHours.delete(eq("id", row.id));
          else if (text !== row.hosts) await tx.historyHours.update({ where: eq("id", row.id), set: { hosts: text } });
        }
        return rows.at(-1)?.id ?? 0;
      },
      { lock: "history" },
    );
    if (last === 0) return;
  }
}
