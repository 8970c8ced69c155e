// Writes which labels hosts belong to, as the results of the labels' queries say.
import type { ServerTx } from "../../platform/core/tables.ts";
import { oneOf } from "../../platform/store/query.ts";
import { requestLabels } from "../hosts/write.ts";
import { notifyMembersChanged } from "./counts.ts";

/** `revision`: the label revision that the host answered; null if the results do not carry it. */
interface MemberChange {
  readonly label_id: number;
  readonly host_id: number;
  readonly revision: number | null;
}

export interface Membership {
  readonly join: readonly MemberChange[];
  /** `id` is the id of the membership row to delete. */
  readonly leave: readonly (MemberChange & { readonly id: number })[];
}

/** Results of outdated queries are dropped, and the hosts are asked again. */
export async function writeMembership(tx: ServerTx, reported: Membership): Promise<void> {
  const { join, leave } = await withoutOutdated(tx, reported);
  if (join.length > 0)
    await tx.labelMembers.upsert(
      join.map(({ label_id, host_id }) => ({ label_id, host_id })),
      { on: ["label_id", "host_id"], set: [], returning: [] },
    );
  if (leave.length > 0)
    await tx.labelMembers.delete(
      oneOf(
        "id",
        leave.map(({ id }) => id),
      ),
    );
  await notifyMembersChanged(
    tx,
    [...join, ...leave].map(({ label_id }) => label_id),
  );
}

/**
 * Drops results of an outdated label query. This server may not have been notified of the change yet; the hosts are
 * queried again at their next poll.
 */
async function withoutOutdated(tx: ServerTx, { join, leave }: Membership): Promise<Membership> {
  const labelIds = [...new Set([...join, ...leave].map(({ label_id }) => label_id))];
  if (labelIds.length === 0) return { join, leave };
  const labels = await tx.labels.pick(["id", "asked_revision"], { where: oneOf("id", labelIds) });
  const revisions = new Map(labels.map(({ id, asked_revision }) => [id, asked_revision]));
  const isCurrent = ({ label_id, revision }: MemberChange) =>
    revision === null || (revisions.get(label_id) ?? 0) <= revision;
  const outdated = [...join, ...leave].filter((change) => !isCurrent(change)).map(({ host_id }) => host_id);
  if (outdated.length === 0) return { join, leave };
  await requestLabels(tx, [...new Set(outdated)]);
  return { join: join.filter(isCurrent), leave: leave.filter(isCurrent) };
}
