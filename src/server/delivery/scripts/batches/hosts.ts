// What came of a batch run on its hosts.

import type { Inside } from "../../../hosts/operations/kind.ts";
import { channels } from "../../../platform/core/channels.ts";
import { eq } from "../../../platform/store/query.ts";

/** In the transaction in which the script has ended on a host. Null: it was cancelled before it ran. */
export async function endedInBatch({ store, clock }: Inside, uuid: string, exitCode: number | null): Promise<void> {
  const state = exitCode === null ? "canceled" : exitCode === 0 ? "ran" : "errored";
  await store.scriptBatchHosts.update({
    where: eq("execution_uuid", uuid),
    set: { state, updated_at: clock.iso() },
  });
  await store.notify(channels.scriptBatches, "");
}
