// In-memory state of live queries on every server: which hosts have to run which queries. Polls read only this.
import type { AgentReply } from "../../platform/agent-protocol/wire.ts";
import { channels } from "../../platform/core/channels.ts";
import type { Services } from "../../platform/core/context.ts";
import { byId } from "../../platform/core/maps.ts";
import { oneOf } from "../../platform/store/query.ts";
import { type ActiveQuery, readActiveQuery } from "./active-query.ts";
import { type LiveMessage, readMessage } from "./messages.ts";
import { standingOf } from "./standing.ts";

export type LiveChange = LiveMessage["kind"] | "reset";
type Listener = (change: LiveChange) => void;
type Deps = Pick<Services, "store" | "log">;

interface HostWork {
  /** Sent in rotation, so that a query which a host never answers does not block the others. */
  readonly ids: number[];
  /** Whether the host's last poll returned a live query although other work was due. */
  owed: boolean;
}

/** A query that is being loaded, with the changes notified meanwhile. */
interface Loading {
  done: Promise<void>;
  /** Hosts that have an outcome now. */
  readonly gone: Set<number>;
  hasEnded: boolean;
}

/** Maximum number of ended or unknown queries remembered, to avoid repeated lookups. */
const OVER_MAX = 10_000;
const running = oneOf("status", [0, 1]);

export class LiveWork {
  readonly #store: Services["store"];
  readonly #log: Services["log"];
  readonly #active = new Map<number, ActiveQuery>();
  readonly #byHost = new Map<number, HostWork>();
  readonly #over = new Set<number>();
  readonly #listeners = new Map<number, Set<Listener>>();
  readonly #loading = new Map<number, Loading>();
  #reached = new Map<number, number[]>();
  #stopListening = async (): Promise<void> => {};

  private constructor({ store, log }: Deps) {
    this.#store = store;
    this.#log = log;
  }

  static async start(deps: Deps): Promise<LiveWork> {
    const work = new LiveWork(deps);
    work.#stopListening = await deps.store.listen(
      channels.live,
      (payload) => work.#apply(readMessage(payload)),
      () => work.#runQuietly(work.#reloadAll()),
    );
    await work.#reloadAll();
    return work;
  }

  get active(): ReadonlyMap<number, ActiveQuery> {
    return this.#active;
  }

  /** Whether a live query is waiting for the host; a single map lookup. */
  has(hostId: number): boolean {
    return this.#byHost.has(hostId);
  }

  /** The reply with the host's next live query; null if there is none or the host's other work has its turn. */
  ask(hostId: number, teamId: number | null, idle: boolean): AgentReply | null {
    const work = this.#byHost.get(hostId);
    const at = work?.ids.findIndex((id) => this.#active.get(id)?.mayAsk(teamId)) ?? -1;
    const query = this.#active.get(work?.ids[at] ?? 0);
    if (!work || !query) return null;
    if (work.owed && !idle) {
      work.owed = false;
      return null;
    }
    work.owed = !idle;
    work.ids.splice(at, 1);
    work.ids.push(query.id);
    if (query.unreached.delete(hostId)) this.#addReached(query.id, hostId);
    return query.reply;
  }

  /** Whether the query runs and waits for this host. Reads the store if this server does not know the query yet. */
  async awaits(id: number, hostId: number): Promise<boolean> {
    if (this.#loading.has(id)) await this.#load(id);
    if (!this.#active.has(id) && !this.#over.has(id)) await this.#load(id);
    return this.#active.get(id)?.waiting.has(hostId) ?? false;
  }

  /** Hosts that came online after the start and got the query, by query id. Clears the list; the caller stores them. */
  takeReached(): Map<number, number[]> {
    const reached = this.#reached;
    this.#reached = new Map();
    return reached;
  }

  returnReached(reached: ReadonlyMap<number, readonly number[]>): void {
    for (const [id, hosts] of reached) for (const hostId of hosts) this.#addReached(id, hostId);
  }

  setReaderUntil(id: number, until: string): void {
    const query = this.#active.get(id);
    if (query) query.readerUntil = Date.parse(until);
  }

  /** Registers a listener for notifications about that query. */
  onChange(id: number, listener: Listener): () => void {
    const ofQuery = this.#listeners.get(id) ?? new Set();
    this.#listeners.set(id, ofQuery);
    ofQuery.add(listener);
    return () => {
      ofQuery.delete(listener);
      if (ofQuery.size === 0 && this.#listeners.get(id) === ofQuery) this.#listeners.delete(id);
    };
  }

  /** Updates the cached state from the store. */
  async reconcile(): Promise<void> {
    const rows = await this.#store.campaigns.pick(["id", "user_id", "query_id", "query"], { where: running });
    const rowsById = byId(rows);
    for (const id of [...this.#active.keys()])
      if (!rowsById.has(id)) {
        this.#setOver(id);
        this.#notify(id, "end");
      }
    for (const [id, row] of rowsById) {
      const query = this.#active.get(id);
      if (query) query.mayAsk = await standingOf(this.#store, row);
    }
    for (const id of rowsById.keys())
      if (!this.#active.has(id)) await this.#load(id).then(() => this.#notify(id, "reset"));
  }

  async stop(): Promise<void> {
    await this.#stopListening();
    await Promise.allSettled([...this.#loading.values()].map(({ done }) => done));
  }

  #apply(message: LiveMessage): void {
    const { id } = message;
    const loading = this.#loading.get(id);
    if (message.kind === "new") {
      this.#over.delete(id);
      this.#runQuietly(this.#load(id).then(() => this.#notify(id, "new")));
      return;
    }
    if (message.kind === "out") {
      const query = this.#active.get(id);
      for (const hostId of message.hosts) {
        loading?.gone.add(hostId);
        if (query) this.#removeTarget(query, hostId);
      }
    } else {
      if (loading) loading.hasEnded = true;
      this.#setOver(id);
    }
    this.#notify(id, message.kind);
  }

  async #reloadAll(): Promise<void> {
    const rows = await this.#store.campaigns.pick(["id"], { where: running });
    const ids = new Set(rows.map(({ id }) => id));
    for (const id of [...this.#active.keys()]) if (!ids.has(id)) this.#setOver(id);
    for (const id of ids) await this.#load(id);
    for (const id of [...this.#listeners.keys()]) this.#notify(id, "reset");
  }

  #load(id: number): Promise<void> {
    const pending = this.#loading.get(id);
    if (pending) return pending.done;
    const loading: Loading = { done: Promise.resolve(), gone: new Set(), hasEnded: false };
    this.#loading.set(id, loading);
    loading.done = this.#read(id, loading).finally(() => this.#loading.delete(id));
    return loading.done;
  }

  async #read(id: number, loading: Loading): Promise<void> {
    const query = await readActiveQuery(this.#store, id);
    // A notification follows when its targets are complete.
    if (query === "incomplete") return;
    if (query === "over" || loading.hasEnded) return this.#setOver(id);
    for (const hostId of loading.gone) {
      query.waiting.delete(hostId);
      query.unreached.delete(hostId);
    }
    this.#removeQuery(id);
    this.#over.delete(id);
    this.#active.set(id, query);
    for (const hostId of query.waiting) {
      const work = this.#byHost.get(hostId);
      if (work) work.ids.push(id);
      else this.#byHost.set(hostId, { ids: [id], owed: false });
    }
  }

  #removeTarget(query: ActiveQuery, hostId: number): void {
    if (!query.waiting.delete(hostId)) return;
    query.unreached.delete(hostId);
    const work = this.#byHost.get(hostId);
    if (!work) return;
    const at = work.ids.indexOf(query.id);
    if (at >= 0) work.ids.splice(at, 1);
    if (work.ids.length === 0) this.#byHost.delete(hostId);
  }

  #removeQuery(id: number): void {
    const query = this.#active.get(id);
    if (!query) return;
    for (const hostId of [...query.waiting]) this.#removeTarget(query, hostId);
    this.#active.delete(id);
  }

  #setOver(id: number): void {
    this.#removeQuery(id);
    this.#over.add(id);
    if (this.#over.size > OVER_MAX) this.#over.delete(this.#over.values().next().value!);
  }

  #addReached(id: number, hostId: number): void {
    const hosts = this.#reached.get(id);
    if (hosts) hosts.push(hostId);
    else this.#reached.set(id, [hostId]);
  }

  #notify(id: number, change: LiveChange): void {
    for (const listener of [...(this.#listeners.get(id) ?? [])]) listener(change);
  }

  #runQuietly(work: Promise<void>): void {
    work.catch((err: unknown) => this.#log.warn({ err }, "live queries could not be loaded; retrying"));
  }
}
