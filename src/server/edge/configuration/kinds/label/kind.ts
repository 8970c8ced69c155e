import type { LabelRow } from "../../../../hosts/labels/wire.ts";
import { LABELS_LOCK } from "../../../../hosts/labels/write.ts";
import { nameHosts } from "../../../../inventory/labels/spec.ts";
import type { Context } from "../../../../platform/core/context.ts";
import { may } from "../../../../platform/core/security/access.ts";
import { oneOf } from "../../../../platform/store/query.ts";
import type { Kind } from "../../kind.ts";
import type { HostName } from "../../shared-rows.ts";
import { type DesiredLabel, labelThings, readLabel } from "./value.ts";
import { removeNamedLabels, writeLabels } from "./write.ts";

/** Members per read. Each has three numbers. */
const BATCH_SIZE = 20_000;

async function hostsOf(ctx: Context, labels: readonly LabelRow[]): Promise<Map<number, HostName[]>> {
  const members = new Map<number, number[]>(labels.map(({ id }) => [id, []]));
  if (labels.length === 0) return new Map();
  const where = oneOf("label_id", [...members.keys()]);
  const hosts = new Set<number>();
  for await (const page of ctx.store.labelMembers.pages({ where }, BATCH_SIZE))
    for (const { label_id, host_id } of page) {
      members.get(label_id)!.push(host_id);
      hosts.add(host_id);
    }
  const names = await nameHosts(ctx, [...hosts]);
  return new Map([...members].map(([id, ids]) => [id, ids.flatMap((host) => names.get(host) ?? [])]));
}

const isManual = ({ label_type: type, label_membership_type: membership }: LabelRow): boolean =>
  type === "regular" && membership === "manual";

export const label: Kind<ReadonlyMap<number, readonly HostName[]> | null, DesiredLabel> = {
  name: "label",
  owners: ["global"],
  per: "many",
  lock: LABELS_LOCK,
  action: () => "labels:write_any",
  load: async (ctx, { labels }) =>
    may(ctx.user, "labels:write_any", null) ? hostsOf(ctx, labels.filter(isManual)) : null,
  things: labelThings,
  read: readLabel,
  write: (work, { steps }) => writeLabels(work, steps),
  remove: (work, { gone }) => removeNamedLabels(work, gone),
};
