// Queues commands for Android devices. The sender passes them to the vendor.

import type { OperationKind } from "../../../hosts/operations/kind.ts";
import { channels } from "../../../platform/core/channels.ts";
import { noLease } from "../../../platform/core/concurrency/lease.ts";
import { parts } from "../../../platform/core/concurrency/parts.ts";
import type { Context } from "../../../platform/core/context.ts";
import { addCommands } from "../../commands/rows.ts";
import type { AndroidAnswer } from "./kind.ts";

interface AndroidCommand {
  readonly hostId: number;
  readonly type: string;
}

/** Queues commands in the caller's transaction. Returns the uuid of each. */
export async function sendAndroidCommands(
  inside: Context,
  kind: OperationKind<AndroidAnswer>,
  commands: readonly AndroidCommand[],
): Promise<string[]> {
  const added = commands.map(({ hostId, type }) => ({
    hostId,
    requestType: type,
    name: null,
    content: JSON.stringify({ type }),
  }));
  const uuids = await addCommands(inside, kind, added);
  await wantCommands(
    inside,
    commands.map(({ hostId }) => hostId),
  );
  return uuids;
}

/** What waits for these hosts is sent after the commit of the caller's transaction. */
export async function wantCommands(
  { store, random }: Pick<Context, "store" | "random">,
  hostIds: readonly number[],
): Promise<void> {
  if (hostIds.length === 0) return;
  for await (const batch of parts(hostIds))
    await store.androidCommandQueues.upsert(
      batch.map((id) => ({ id, wanted: random.uuid(), due: true, retry_at: null, failures: 0, ...noLease })),
      { on: ["id"], set: ["wanted", "due", "retry_at", "failures"], returning: [] },
    );
  await store.notify(channels.androidCommands, "");
}
