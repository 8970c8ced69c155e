// How many hosts are in each label. Two million memberships take a fifth of a second to count, so counts are held in memory
// and only labels whose members changed are counted again: every change of members is told on a channel, in its transaction.
import { visible } from "../core/access.ts";
import { channels } from "../core/channels.ts";
import type { Context, Services } from "../core/context.ts";
import { Sharing } from "../core/sharing.ts";
import { hosts } from "../hosts/tables.ts";
import { and, everything, exists, oneOf, type Predicate } from "../store/query.ts";
import type { ServerTx } from "../tables.ts";

type Counts = ReadonlyMap<number, number>;

/** Counts among the hosts that one kind of caller may see. */
interface Held {
  /** All hosts are: those that move among teams change nothing. */
  readonly everywhere: boolean;
  counts: Counts;
  /** Labels to count again. */
  due: Set<number> | "all";
}

/** Kinds of callers (sets of teams) of which counts are held. */
const HELD_MAX = 100;

export interface LabelCounts {
  among(own: Predicate): Promise<Counts>;
  stop(): Promise<void>;
}

/** One per server, found by what its services and all contexts share. */
const servers = new WeakMap<Services["config"], LabelCounts>();

/** Members of each label among the hosts of the caller's teams. Labels without any are left out. */
export function labelCounts(ctx: Context): Promise<Counts> {
  const own = visible(ctx, "labels:list");
  return servers.get(ctx.config)?.among(own) ?? countMembers(ctx.store, own, "all");
}

async function countMembers(
  { labelMembers }: Pick<ServerTx, "labelMembers">,
  own: Predicate,
  which: ReadonlySet<number> | "all",
): Promise<Map<number, number>> {
  const groups = await labelMembers.groupCount(
    "label_id",
    and(
      which === "all" ? everything : oneOf("label_id", [...which]),
      own.op === "all" ? everything : exists(hosts, "id", own, "host_id"),
    ),
  );
  return new Map(groups.flatMap(({ value, count }) => (typeof value === "number" ? [[value, count]] : [])));
}

export async function startLabelCounts({
  store,
  config,
}: Pick<Services, "config"> & { store: Services["store"] }): Promise<LabelCounts> {
  const held = new Map<string, Held>();
  const sharing = new Sharing();

  async function refresh(key: string, own: Predicate): Promise<Counts> {
    const of = held.get(key);
    // Dropped while it waited: nothing tells it of changes any more.
    if (!of) return countMembers(store, own, "all");
    const { due } = of;
    if (due !== "all" && due.size === 0) return of.counts;
    // What changes from here on is due again, whether the count saw it or not.
    of.due = new Set();
    try {
      const counted = await countMembers(store, own, due);
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
    for (const one of held.values()) {
      if (one.due === "all" || (payload === MOVED && one.everywhere)) continue;
      if (ids === null) one.due = "all";
      else for (const id of ids) one.due.add(id);
    }
  };
  const stop = await store.listen(channels.labelMembers, changed, () => changed(ALL));

  const counts: LabelCounts = {
    among(own) {
      const key = JSON.stringify(own);
      const one: Held = held.get(key) ?? { everywhere: own.op === "all", counts: new Map(), due: "all" };
      // Last in the order of the map: the one that nobody asked for longest goes first.
      held.delete(key);
      held.set(key, one);
      if (held.size > HELD_MAX) held.delete(held.keys().next().value!);
      return sharing.run(key, () => refresh(key, own));
    },
    async stop() {
      servers.delete(config);
      await stop();
    },
  };
  servers.set(config, counts);
  return counts;
}

const PAYLOAD_MAX = 7000;
const ALL = "*";
const MOVED = "moved";

/** To be called in the transaction in which hosts join or leave labels. */
export async function tellMembersChanged(store: ServerTx, labelIds: Iterable<number>): Promise<void> {
  const ids = [...new Set(labelIds)];
  if (ids.length === 0) return;
  const text = JSON.stringify(ids);
  await store.notify(channels.labelMembers, text.length <= PAYLOAD_MAX ? text : ALL);
}

/** In the transaction in which hosts are deleted: their memberships go along. */
export const tellHostsGone = (store: ServerTx): Promise<void> => store.notify(channels.labelMembers, ALL);

/** In the transaction in which hosts change team: the members that team users see are others. */
export const tellHostsMoved = (store: ServerTx): Promise<void> => store.notify(channels.labelMembers, MOVED);
