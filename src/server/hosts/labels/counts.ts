// The number of hosts in each label. Counting two million memberships takes 0.2 s, so counts are cached in memory and
// only labels whose members changed are counted again. Every change of members is published on a channel, in its
// transaction.

import { ALL_MEMBERS as ALL, channels, HOSTS_MOVED as MOVED } from "../../platform/core/channels.ts";
import { Sharing } from "../../platform/core/concurrency/sharing.ts";
import type { Context, Services } from "../../platform/core/context.ts";
import { startedPart } from "../../platform/core/running.ts";
import { visible } from "../../platform/core/security/access.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, everything, exists, oneOf, type Predicate } from "../../platform/store/query.ts";
import { hosts } from "../hosts/tables.ts";

type Counts = ReadonlyMap<number, number>;

/** Counts among the hosts that a caller with a certain set of teams may see. */
interface CachedCounts {
  /** The counts cover all hosts, so transfers between teams do not change them. */
  readonly everywhere: boolean;
  counts: Counts;
  /** Labels that must be counted again. */
  due: Set<number> | "all";
}

/** The number of team sets whose counts are cached. */
const CACHED_MAX = 100;

interface LabelCounts {
  among(visibleHosts: Predicate): Promise<Counts>;
  stop(): Promise<void>;
}

export const memberCounts = startedPart("label counts", startLabelCounts);

/** Members of each label among the hosts of the caller's teams. Labels without members are left out. */
export function labelCounts(ctx: Context): Promise<Counts> {
  const visibleHosts = visible(ctx, "labels:list");
  return ctx.running.find(memberCounts)?.among(visibleHosts) ?? countMembers(ctx.store, visibleHosts, "all");
}

async function countMembers(
  { labelMembers }: Pick<ServerTx, "labelMembers">,
  visibleHosts: Predicate,
  which: ReadonlySet<number> | "all",
): Promise<Map<number, number>> {
  const groups = await labelMembers.groupCount(
    "label_id",
    and(
      which === "all" ? everything : oneOf("label_id", [...which]),
      visibleHosts.op === "all" ? everything : exists(hosts, "id", visibleHosts, "host_id"),
    ),
  );
  return new Map(groups.flatMap(({ value, count }) => (typeof value === "number" ? [[value, count]] : [])));
}

async function startLabelCounts({ store }: Services): Promise<LabelCounts> {
  let stopped = false;
  const held = new Map<string, CachedCounts>();
  const sharing = new Sharing();

  async function refresh(key: string, visibleHosts: Predicate): Promise<Counts> {
    const of = held.get(key);
    // The entry was evicted while this call waited, so it no longer receives changes.
    if (!of) return countMembers(store, visibleHosts, "all");
    const { due } = of;
    if (due !== "all" && due.size === 0) return of.counts;
    // A change from here on makes the label due again, whether or not this count includes it.
    of.due = new Set();
    try {
      const counted = await countMembers(store, visibleHosts, due);
      if (due === "all") of.counts = counted;
      else of.counts = new Map([...of.counts, ...[...due].map((id) => [id, counted.get(id) ?? 0] as const)]);
      return of.counts;
    } catch (error) {
      of.due = "all";
      throw error;
    }
  }

  const changed = (payload: string) => {
    const ids = payload === ALL || payload === MOVED ? null : (JSON.parse(payload) as number[]);
    for (const cached of held.values()) {
      if (cached.due === "all" || (payload === MOVED && cached.everywhere)) continue;
      if (ids === null) cached.due = "all";
      else for (const id of ids) cached.due.add(id);
    }
  };
  const stop = await store.listen(channels.labelMembers, changed, () => changed(ALL));

  return {
    among(visibleHosts) {
      if (stopped) return countMembers(store, visibleHosts, "all");
      const key = JSON.stringify(visibleHosts);
      const cached: CachedCounts = held.get(key) ?? {
        everywhere: visibleHosts.op === "all",
        counts: new Map(),
        due: "all",
      };
      // Move the entry to the end of the map, so that the least recently used one is evicted first.
      held.delete(key);
      held.set(key, cached);
      if (held.size > CACHED_MAX) held.delete(held.keys().next().value!);
      return sharing.run(key, () => refresh(key, visibleHosts));
    },
    async stop() {
      stopped = true;
      await stop();
    },
  };
}

const PAYLOAD_MAX = 7000;

/** Call this in the transaction in which hosts join or leave labels. */
export async function notifyMembersChanged(store: ServerTx, labelIds: Iterable<number>): Promise<void> {
  const ids = [...new Set(labelIds)];
  if (ids.length === 0) return;
  const text = JSON.stringify(ids);
  await store.notify(channels.labelMembers, text.length <= PAYLOAD_MAX ? text : ALL);
}
