// The built-in labels that hosts join when they enroll: the one of every host, and those of platforms whose devices may have
// no agent that answers the label's query. Their ids never change while a server runs.
import { CachedValue } from "../../platform/core/concurrency/cached.ts";
import { part } from "../../platform/core/running.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq, oneOf } from "../../platform/store/query.ts";
import { ALL_HOSTS, platformLabels } from "./builtin-labels.ts";
import { notifyMembersChanged } from "./counts.ts";

export interface JoinedLabels {
  readonly allHosts: number;
  readonly ofPlatform: ReadonlyMap<string, number>;
}

export const joinedLabels = part(
  "labels that hosts join",
  ({ store }) =>
    new CachedValue(async (): Promise<JoinedLabels> => {
      const names = [ALL_HOSTS, ...platformLabels.map(({ name }) => name)];
      const rows = await store.labels.pick(["id", "name"], {
        where: and(oneOf("name", names), eq("label_type", "builtin")),
      });
      const idOf = (name: string): number => {
        const row = rows.find((label) => label.name === name);
        if (!row) throw new Error(`the label ${name} is missing`);
        return row.id;
      };
      return {
        allHosts: idOf(ALL_HOSTS),
        ofPlatform: new Map(platformLabels.map(({ name, platform }) => [platform, idOf(name)])),
      };
    }),
);

/** Makes enrolled hosts members, in the transaction that writes them. `isAnyNew`: the numbers of members change. */
export async function joinLabels(
  tx: ServerTx,
  { allHosts, ofPlatform }: JoinedLabels,
  { hosts, isAnyNew }: { hosts: readonly { id: number; platform: string }[]; isAnyNew: boolean },
): Promise<void> {
  const rows = hosts.flatMap(({ id: host_id, platform }) => {
    const platformLabel = ofPlatform.get(platform);
    const label_ids = platformLabel === undefined ? [allHosts] : [allHosts, platformLabel];
    return label_ids.map((label_id) => ({ label_id, host_id }));
  });
  await tx.labelMembers.upsert(rows, { on: ["label_id", "host_id"], set: [], returning: [] });
  if (isAnyNew) await notifyMembersChanged(tx, [...new Set(rows.map(({ label_id }) => label_id))]);
}
