// Runs the tasks that no server runs: new ones, ones to be tried again, and those of servers that have stopped.
import { channels } from "../core/channels.ts";
import { isoAt, seconds } from "../core/clock.ts";
import { isAlone, isFree, newLease, noLease } from "../core/concurrency/lease.ts";
import { type Services, serviceContext } from "../core/context.ts";
import { and, eq, gt, isNull, lte, not, oneOf, or } from "../store/query.ts";
import { carryOut, PAUSE_MAX } from "./carry-out.ts";
import type { TaskKind } from "./task.ts";

/** Messages may be lost, leases expire, and pauses end. */
const LOOK_EVERY = seconds(5);
/** Tasks that a server runs side by side. */
const MAX_CONCURRENT = 6;
/** Tasks of one kind, so that many long ones do not delay other kinds. */
const MAX_CONCURRENT_PER_KIND = 2;

// biome-ignore lint/suspicious/noExplicitAny: kinds with any payload; each reads only what it has written
type AnyTaskKind = TaskKind<any>;

export async function startTasks(
  services: Services,
  kinds: readonly AnyTaskKind[],
): Promise<{ stop(): Promise<void> }> {
  const runner = new TaskRunner(services, kinds);
  await runner.start();
  return runner;
}

class TaskRunner {
  readonly #services: Services;
  readonly #kindsByName: ReadonlyMap<string, AnyTaskKind>;
  readonly #stopping = new AbortController();
  /** The kinds of the tasks that this server runs. */
  readonly #running = new Map<Promise<unknown>, string>();
  #looking: Promise<void> | null = null;
  #mustLookAgain = false;
  #timer: NodeJS.Timeout | undefined;
  #unlisten = async () => {};

  constructor(services: Services, kinds: readonly AnyTaskKind[]) {
    this.#services = services;
    this.#kindsByName = new Map(kinds.map((kind) => [kind.name, kind]));
  }

  async start(): Promise<void> {
    const { store } = this.#services;
    if (isAlone(this.#services)) await store.tasks.update({ where: not(isNull("runner_until")), set: noLease });
    const look = () => this.#look();
    this.#unlisten = await store.listen(channels.tasks, look, look);
    // Real time: the injected clock decides which tasks are due, not how often to look.
    this.#timer = setInterval(look, LOOK_EVERY).unref();
    look();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    clearInterval(this.#timer);
    await this.#unlisten();
    await this.#looking;
    await Promise.all(this.#running.keys());
  }

  #look(): void {
    if (this.#stopping.signal.aborted) return;
    if (this.#looking) {
      this.#mustLookAgain = true;
      return;
    }
    this.#looking = this.#startFree()
      .catch((err: unknown) => this.#services.log.warn({ err }, "tasks could not be read; the server retries shortly"))
      .finally(() => {
        this.#looking = null;
        if (this.#mustLookAgain) {
          this.#mustLookAgain = false;
          this.#look();
        }
      });
  }

  async #startFree(): Promise<void> {
    const tasks = await this.#services.store.tasks.pick(["id", "kind"], {
      where: this.#isWaiting(),
      order: [{ column: "id", direction: "asc" }],
      limit: 100,
    });
    for (const { id, kind: name } of tasks) {
      if (this.#stopping.signal.aborted || this.#running.size >= MAX_CONCURRENT) return;
      const kind = this.#kindsByName.get(name);
      if (kind && this.#countRunning(name) < MAX_CONCURRENT_PER_KIND) await this.#startTask(id, kind);
    }
  }

  /** Nothing happens if another server has started it. */
  async #startTask(id: number, kind: AnyTaskKind): Promise<void> {
    const services = this.#services;
    const { store, clock, log } = services;
    const lease = newLease(services);
    const set = { state: "running", retry_at: null, ...lease } as const;
    if ((await store.tasks.update({ where: and(eq("id", id), this.#isWaiting()), set })) === 0) return;
    await store.tasks.update({
      where: and(eq("id", id), isNull("started_at")),
      set: { started_at: clock.iso() },
    });
    const row = await store.tasks.get(id);
    if (!row || row.runner !== lease.runner) return;
    const work = carryOut(serviceContext(services), kind, { ...row, ...lease }, this.#stopping.signal)
      .catch((err: unknown) => log.error({ err, task: id }, "the outcome of a task could not be stored"))
      .finally(() => {
        this.#running.delete(work);
        this.#look();
      });
    this.#running.set(work, kind.name);
  }

  #isWaiting() {
    const now = this.#services.clock.now();
    // A later time was written while the clock was wrong.
    const latestRetry = isoAt(now + 2 * PAUSE_MAX);
    return and(
      oneOf("state", ["queued", "running"]),
      isFree(this.#services),
      or(isNull("retry_at"), lte("retry_at", isoAt(now)), gt("retry_at", latestRetry)),
    );
  }

  #countRunning(kind: string): number {
    return [...this.#running.values()].filter((name) => name === kind).length;
  }
}
