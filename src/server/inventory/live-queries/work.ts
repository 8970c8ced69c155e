// In-memory state of live queries on every server: which hosts have to run which queries. Polls read only this.

import { LIVE_PREFIX } from "../../platform/agent-protocol/names.ts";
import type { AgentReply } from "../../platform/agent-protocol/wire.ts";
import { channels } from "../../platform/core/channels.ts";
import type { Services } from "../../platform/core/context.ts";
import { byId } from "../../platform/core/maps.ts";
import { and, eq, gt, oneOf } from "../../platform/store/query.ts";
import type { RowOf } from "../../platform/store/table.ts";
import { type LiveMessage, readMessage } from "./messages.ts";
import { type MayAsk, standingOf } from "./standing.ts";
import type { campaigns } from "./tables.ts";

export type CampaignRow = RowOf<typeof campaigns>;

/** A running live query. */
export interface Active {
  readonly id: number;
  readonly reply: AgentReply;
  /** Hosts without an outcome. */
  readonly waiting: Set<number>;
  /** The hosts in `waiting` that were offline at the start and have not polled since. */
  readonly unreached: Set<number>;
  readonly queued: boolean;
  readonly expiresAt: number;
  readerUntil: number;
  /** Permissions of the user who started it, as of the last reconciliation. */
  mayAsk: MayAsk;
}

export type Change = LiveMessage["kind"] | "reset";

export interface Work {
  /** Whether a live query is waiting for the host; a single map lookup. */
  has(hostId: number): boolean;
  /** The reply with the host's next live query; null if there is none or the host's other work has its turn. */
  ask(hostId: number, teamId: number | null, idle: boolean): AgentReply | null;
  /** Whether the query runs and waits for this host. Reads the store if this server does not know the query yet. */
  awaits(id: number, hostId: number): Promise<boolean>;
  readonly active: ReadonlyMap<number, Active>;
  /** Hosts that came online after the start and got the query, by query id. Clears the list; the caller stores them. */
  takeReached(): Map<number, number[]>;
  returnReached(reached: ReadonlyMap<number, readonly number[]>): void;
  /** Registers a listener for notifications about that query. */
  onChange(id: number, listener: (change: Change) => void): () => void;
  /** Updates the cached state from the store. */
  reconcile(): Promise<void>;
  stop(): Promise<void>;
}

interface HostWork {
  /** Sent in rotation, so that a query which a host never answers does not block the others. */
  readonly ids: number[];
  /** Whether the host's last poll returned a live query although other work was due. */
  owed: boolean;
}

/** Maximum number of ended or unknown queries remembered, to avoid repeated lookups. */
const OVER_MAX = 10_000;
const TARGETS_PER_QUERY = 5_000;
const running = oneOf("status", [0, 1]);

export async function createWork({ store, log }: Pick<Services, "store" | "log">): Promise<Work> {
  const active = new Map<number, Active>();
  const byHost = new Map<number, HostWork>();
  const over = new Set<number>();
  let reached = new Map<number, number[]>();
  const listeners = new Map<number, Set<(change: Change) => void>>();
  /** Queries that are being loaded, with the changes notified meanwhile. */
  const loading = new Map<number, { done: Promise<void>; gone: Set<number>; ended: boolean }>();

  function wake(id: number, change: Change): void {
    for (const listener of [...(listeners.get(id) ?? [])]) listener(change);
  }

  function drop(query: Active, hostId: number): void {
    if (!query.waiting.delete(hostId)) return;
    query.unreached.delete(hostId);
    const work = byHost.get(hostId);
    if (!work) return;
    const at = work.ids.indexOf(query.id);
    if (at >= 0) work.ids.splice(at, 1);
    if (work.ids.length === 0) byHost.delete(hostId);
  }

  function forget(id: number): void {
    const query = active.get(id);
    if (!query) return;
    for (const hostId of [...query.waiting]) drop(query, hostId);
    active.delete(id);
  }

  function setOver(id: number): void {
    over.add(id);
    if (over.size > OVER_MAX) over.delete(over.values().next().value!);
  }

  function note(id: number, hostId: number): void {
    const hosts = reached.get(id);
    if (hosts) hosts.push(hostId);
    else reached.set(id, [hostId]);
  }

  function load(id: number): Promise<void> {
    const pending = loading.get(id);
    if (pending) return pending.done;
    const entry = { done: Promise.resolve(), gone: new Set<number>(), ended: false };
    loading.set(id, entry);
    entry.done = read(id, entry).finally(() => loading.delete(id));
    return entry.done;
  }

  async function read(id: number, entry: { gone: Set<number>; ended: boolean }): Promise<void> {
    const row = await store.campaigns.get(id);
    // Targets are still being written; a notification follows when they are complete.
    if (row && row.status !== 2 && row.targets_count === 0) return;
    const isOver = !row || row.status === 2;
    const mayAsk = isOver ? null : await standingOf(store, row);
    const targets = isOver ? null : await waitingTargets(id);
    if (!row || !mayAsk || !targets || entry.ended) {
      forget(id);
      setOver(id);
      return;
    }
    const waiting = targets.filter(({ host_id }) => !entry.gone.has(host_id));
    forget(id);
    over.delete(id);
    active.set(id, {
      id,
      reply: replyOf(row),
      waiting: new Set(waiting.map(({ host_id }) => host_id)),
      unreached: new Set(waiting.flatMap(({ host_id, reached }) => (reached ? [] : [host_id]))),
      queued: row.queue_until !== null,
      expiresAt: Date.parse(row.expires_at),
      readerUntil: Date.parse(row.reader_until),
      mayAsk,
    });
    for (const { host_id } of waiting) {
      const work = byHost.get(host_id);
      if (work) work.ids.push(id);
      else byHost.set(host_id, { ids: [id], owed: false });
    }
  }

  /** Reads in parts, so that other work is not delayed. Outcomes recorded meanwhile arrive as notifications. */
  async function waitingTargets(id: number): Promise<{ host_id: number; reached: boolean }[]> {
    const all: { host_id: number; reached: boolean }[] = [];
    for (let last = 0; ; ) {
      const batch = await store.campaignHosts.pick(["id", "host_id", "reached"], {
        where: and(eq("campaign_id", id), eq("state", "waiting"), gt("id", last)),
        order: [{ column: "id", direction: "asc" }],
        limit: TARGETS_PER_QUERY,
      });
      for (const target of batch) all.push(target);
      if (batch.length < TARGETS_PER_QUERY) return all;
      last = batch.at(-1)!.id;
    }
  }

  async function reloadAll(): Promise<void> {
    const rows = await store.campaigns.pick(["id"], { where: running });
    const now = new Set(rows.map(({ id }) => id));
    for (const id of [...active.keys()])
      if (!now.has(id)) {
        forget(id);
        setOver(id);
      }
    for (const id of now) await load(id);
    for (const id of [...listeners.keys()]) wake(id, "reset");
  }

  const quietly = (work: Promise<void>) =>
    void work.catch((err: unknown) => log.warn({ err }, "live queries could not be loaded; retrying"));

  const stopListening = await store.listen(
    channels.live,
    (payload) => {
      const message = readMessage(payload);
      const { id } = message;
      const entry = loading.get(id);
      if (message.kind === "new") {
        over.delete(id);
        quietly(load(id).then(() => wake(id, "new")));
        return;
      }
      if (message.kind === "out") {
        const query = active.get(id);
        for (const hostId of message.hosts) {
          entry?.gone.add(hostId);
          if (query) drop(query, hostId);
        }
      } else {
        if (entry) entry.ended = true;
        forget(id);
        setOver(id);
      }
      wake(id, message.kind);
    },
    () => quietly(reloadAll()),
  );
  await reloadAll();

  return {
    active,
    has: (hostId) => byHost.has(hostId),
    ask(hostId, teamId, idle) {
      const work = byHost.get(hostId);
      const at = work?.ids.findIndex((id) => active.get(id)?.mayAsk(teamId)) ?? -1;
      const query = active.get(work?.ids[at] ?? 0);
      if (!work || !query) return null;
      if (work.owed && !idle) {
        work.owed = false;
        return null;
      }
      work.owed = !idle;
      work.ids.splice(at, 1);
      work.ids.push(query.id);
      if (query.unreached.delete(hostId)) note(query.id, hostId);
      return query.reply;
    },
    async awaits(id, hostId) {
      if (loading.has(id)) await load(id);
      if (!active.has(id) && !over.has(id)) await load(id);
      return active.get(id)?.waiting.has(hostId) ?? false;
    },
    takeReached() {
      const taken = reached;
      reached = new Map();
      return taken;
    },
    returnReached(back) {
      for (const [id, hosts] of back) for (const hostId of hosts) note(id, hostId);
    },
    onChange(id, listener) {
      const ofCampaign = listeners.get(id) ?? new Set();
      listeners.set(id, ofCampaign);
      ofCampaign.add(listener);
      return () => {
        ofCampaign.delete(listener);
        if (ofCampaign.size === 0 && listeners.get(id) === ofCampaign) listeners.delete(id);
      };
    },
    async reconcile() {
      const rows = await store.campaigns.pick(["id", "user_id", "query_id", "query"], { where: running });
      const now = byId(rows);
      for (const id of [...active.keys()])
        if (!now.has(id)) {
          forget(id);
          setOver(id);
          wake(id, "end");
        }
      for (const [id, row] of now) {
        const campaign = active.get(id);
        if (campaign) campaign.mayAsk = await standingOf(store, row);
      }
      for (const id of now.keys()) if (!active.has(id)) await load(id).then(() => wake(id, "reset"));
    },
    async stop() {
      await stopListening();
      await Promise.allSettled([...loading.values()].map(({ done }) => done));
    },
  };
}

/** Sent alone, because agents return the results of one read together, after the last of its queries. */
function replyOf({ id, query }: Pick<CampaignRow, "id" | "query">): AgentReply {
  const name = LIVE_PREFIX + id;
  return {
    status: 200,
    // Before 5.8, agents skip queries without a discovery query if any other query has one, so this one always has one.
    body: JSON.stringify({ queries: { [name]: query }, discovery: { [name]: "SELECT 1;" } }),
  };
}
