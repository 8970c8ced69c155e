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

class LabelCounts {
  readonly #store: Services["store"];
  readonly #cached = new Map<string, CachedCounts>();
  readonly #sharing = new Sharing();
  #isStopped = false;
  #unlisten = async () => {};

  static async start({ store }: Services): Promise<LabelCounts> {
    const counts = new LabelCounts(store);
    const changed = (payload: string) => counts.#invalidate(payload);
    counts.#unlisten = await store.listen(channels.labelMembers, changed, () => changed(ALL));
    return counts;
  }

  constructor(store: Services["store"]) {
    this.#store = store;
  }

  among(visibleHosts: Predicate): Promise<Counts> {
    if (this.#isStopped) return countMembers(this.#store, visibleHosts, "all");
    const key = JSON.stringify(visibleHosts);
    const cached: CachedCounts = this.#cached.get(key) ?? {
      everywhere: visibleHosts.op === "all",
      counts: new Map(),
      due: "all",
    };
    // Move the entry to the end of the map, so that the least recently used one is evicted first.
    this.#cached.delete(key);
    this.#cached.set(key, cached);
    if (this.#cached.size > CACHED_MAX) this.#cached.delete(this.#cached.keys().next().value!);
    return this.#sharing.run(key, () => this.#refresh(key, visibleHosts));
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#unlisten();
  }

  async #refresh(key: string, visibleHosts: Predicate): Promise<Counts> {
    const cached = this.#cached.get(key);
    // The entry was evicted while this call waited, so it no longer receives changes.
    if (!cached) return countMembers(this.#store, visibleHosts, "all");
    const { due } = cached;
    if (due !== "all" && due.size === 0) return cached.counts;
    // A change from here on makes the label due again, whether or not this count includes it.
    cached.due = new Set();
    try {
      const counted = await countMembers(this.#store, visibleHosts, due);
      if (due === "all") cached.counts = counted;
      else cached.counts = new Map([...cached.counts, ...[...due].map((id) => [id, counted.get(id) ?? 0] as const)]);
      return cached.counts;
    } catch (error) {
      cached.due = "all";
      throw error;
    }
  }

  #invalidate(payload: string): void {
    const ids = payload === ALL || payload === MOVED ? null : (JSON.parse(payload) as number[]);
    for (const cached of this.#cached.values()) {
      if (cached.due === "all" || (payload === MOVED && cached.everywhere)) continue;
      if (ids === null) cached.due = "all";
      else for (const id of ids) cached.due.add(id);
    }
  }
}

export const memberCounts = startedPart("label counts", LabelCounts.start);

const PAYLOAD_MAX = 7000;

/** Call this in the transaction in which hosts join or leave labels. */
export async function notifyMembersChanged(store: ServerTx, labelIds: Iterable<number>): Promise<void> {
  const ids = [...new Set(labelIds)];
  if (ids.length === 0) return;
  const text = JSON.stringify(ids);
  await store.notify(channels.labelMembers, text.length <= PAYLOAD_MAX ? text : ALL);
}
