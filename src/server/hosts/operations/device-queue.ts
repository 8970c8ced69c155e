// The queue of a device that asks for whatever comes next, and may postpone it.
import { Batcher } from "../../platform/core/concurrency/batcher.ts";
import type { Context } from "../../platform/core/context.ts";
import { part } from "../../platform/core/running.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq } from "../../platform/store/query.ts";
import type { Lane, OpenOperation, Operation } from "./kind.ts";
import { openOperationRows, openOperationsOf, operationLock, sendContent } from "./queue.ts";

type Deps = Pick<Context, "store" | "clock" | "extensions" | "running">;

interface Asker {
  readonly hostId: number;
  readonly lane: Lane;
}

/** Devices ask all the time and mostly for nothing, so that those that ask together share a query. */
const openOfDevices = part(
  "open operations of devices",
  ({ store }) =>
    new Batcher<Asker, readonly OpenOperation[]>((askers) => openOperationsOf(store, askers), {
      size: 500,
      parallel: 2,
    }),
);

export interface Next {
  readonly operation: Operation;
  readonly content: string;
}

/** Chooses which of a device's open operations (being read, in their order) it gets now. */
export type Choose = (store: ServerTx, open: Promise<readonly Operation[]>) => Promise<Operation | undefined>;

const first: Choose = async (_, open) => (await open)[0];

/**
 * The operation that the device gets now; it counts as sent from then on. One that was sent and not answered is sent
 * again. Null: nothing waits. `choose` runs in the transaction. `given`: what was open when the device asked, if the
 * caller has read it.
 */
export async function nextOperation(
  backing: Deps,
  hostId: number,
  lane: Lane,
  choose: Choose = first,
  openOperations?: readonly OpenOperation[],
): Promise<Next | null> {
  // Most devices have nothing to do: that needs no lock.
  const open = openOperations ?? (await backing.running.of(openOfDevices).add({ hostId, lane }));
  if (open.length === 0) return null;
  return backing.store.tx((store) => takeOperation({ ...backing, store }, hostId, lane, choose), operationLock(hostId));
}

/** Takes the next operation in the caller's transaction, under the lock of the host's operations. */
export async function takeOperation(inside: Deps, hostId: number, lane: Lane, choose: Choose): Promise<Next | null> {
  const operation = await choose(inside.store, openOperationRows(inside.store, hostId, lane));
  if (!operation) return null;
  const { content } = await sendContent(inside, operation);
  return { operation, content };
}

interface Batch {
  /** Takes those, too, that were sent and are not answered. */
  readonly again: boolean;
  /** Characters of their contents: the one that exceeds this is the last. */
  readonly room: number;
  /** What was open when the device asked, if the caller has read it. */
  readonly open?: readonly OpenOperation[];
}

/** `nextOperation` for a device that gets several at once, in their order. */
export async function nextOperations(
  backing: Deps,
  hostId: number,
  lane: Lane,
  { again, room, open: openOperations }: Batch,
): Promise<readonly Next[]> {
  const isWaiting = ({ state }: Pick<Operation, "state">) => again || state === "queued";
  const open = openOperations ?? (await backing.running.of(openOfDevices).add({ hostId, lane }));
  if (!open.some(isWaiting)) return [];
  return backing.store.tx(async (store) => {
    const taken: Next[] = [];
    let size = 0;
    for (const operation of (await openOperationRows(store, hostId, lane)).filter(isWaiting)) {
      const { content } = await sendContent({ ...backing, store }, operation);
      taken.push({ operation, content });
      size += content.length;
      if (size >= room) break;
    }
    return taken;
  }, operationLock(hostId));
}

/** The device has not done it, and does not want it now. It keeps its place, and this was no attempt. */
export async function postponeOperation({ store }: Pick<Context, "store">, hostId: number, id: number): Promise<void> {
  await store.tx(async (tx) => {
    const isSent = and(eq("id", id), eq("host_id", hostId), eq("state", "sent"));
    const operation = await tx.operations.first({ where: isSent });
    if (!operation) return;
    const set = { state: "queued", attempts: Math.max(0, operation.attempts - 1), due_at: null } as const;
    await tx.operations.update({ where: eq("id", id), set });
  }, operationLock(hostId));
}
