// The built-in label that contains every host. Its id never changes while a server runs.
import { Cached } from "../core/concurrency/cached.ts";
import { part } from "../core/running.ts";
import type { ServerTx } from "../core/tables.ts";
import { and, eq } from "../store/query.ts";
import { ALL_HOSTS } from "./builtin-labels.ts";
import { notifyMembersChanged } from "./counts.ts";

export const allHostsLabel = part(
  "label of all hosts",
  ({ store }) =>
    new Cached(async () => {
      const label = await store.labels.first({ where: and(eq("name", ALL_HOSTS), eq("label_type", "builtin")) });
      if (!label) throw new Error(`the label ${ALL_HOSTS} is missing`);
      return label.id;
    }),
);

/** Makes enrolled hosts members, in the transaction that writes them. `isAnyNew`: the number of members changes. */
export async function joinAllHosts(
  tx: ServerTx,
  labelId: number,
  { hostIds, isAnyNew }: { hostIds: readonly number[]; isAnyNew: boolean },
): Promise<void> {
  await tx.labelMembers.upsert(
    hostIds.map((host_id) => ({ label_id: labelId, host_id })),
    { on: ["label_id", "host_id"], set: [], returning: [] },
  );
  if (isAnyNew) await notifyMembersChanged(tx, [labelId]);
}
