import { channels } from "../../../platform/core/channels.ts";
import { noLease } from "../../../platform/core/concurrency/lease.ts";
import { parts } from "../../../platform/core/concurrency/parts.ts";
import type { Context } from "../../../platform/core/context.ts";

/** The policies of these hosts are sent again, after the commit of the caller's transaction. `isNew`: to new devices. */
export async function wantPolicies(
  { store, random }: Pick<Context, "store" | "random">,
  hostIds: readonly number[],
  { isNew = false }: { readonly isNew?: boolean } = {},
): Promise<void> {
  if (hostIds.length === 0) return;
  const state = { due: true, retry_at: null, failures: 0 };
  for await (const batch of parts(hostIds))
    await store.androidPolicies.upsert(
      batch.map((id) => ({ id, wanted: random.uuid(), ...state, ...noLease, version: 0 })),
      {
        on: ["id"],
        set: ["wanted", "due", "retry_at", "failures", ...(isNew ? (["version"] as const) : [])],
        returning: [],
      },
    );
  await store.notify(channels.androidPolicies, "");
}
