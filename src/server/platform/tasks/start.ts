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
  const { store, log } = services;
  const byName = new Map(kinds.map((kind) => [kind.name, kind]));
  const stopping = new AbortController();
  const running = new Map<Promise<unknown>, string>();
  let looking: Promise<void> | null = null;
  let again = false;

  const countOf = (kind: string) => [...running.values()].filter((name) => name === kind).length;
  const waiting = () =>
    and(
      oneOf("state", ["queued", "running"]),
      isFree(services),
      or(isNull("retry_at"), lte("retry_at", services.clock.iso()), gt("retry_at", latestRetry())),
    );
  /** A later time was written while the clock was wrong. */
  const latestRetry = () => isoAt(services.clock.now() + 2 * PAUSE_MAX);

  async function startFree(): Promise<void> {
    const tasks = await store.tasks.pick(["id", "kind"], {
      where: waiting(),
      order: [{ column: "id", direction: "asc" }],
      limit: 100,
    });
    for (const { id, kind: name } of tasks) {
      if (stopping.signal.aborted || running.size >= MAX_CONCURRENT) return;
      const kind = byName.get(name);
      if (!kind || countOf(name) >= MAX_CONCURRENT_PER_KIND) continue;
      const lease = newLease(services);
      const set = { state: "running", retry_at: null, ...lease } as const;
      if ((await store.tasks.update({ where: and(eq("id", id), waiting()), set })) === 0) continue;
      await store.tasks.update({
        where: and(eq("id", id), isNull("started_at")),
        set: { started_at: services.clock.iso() },
      });
      const row = await store.tasks.get(id);
      if (!row || row.runner !== lease.runner) continue;
      const work = carryOut(serviceContext(services), kind, { ...row, ...lease }, stopping.signal)
        .catch((err: unknown) => log.error({ err, task: id }, "the outcome of a task could not be stored"))
        .finally(() => {
          running.delete(work);
          look();
        });
      running.set(work, name);
    }
  }

  function look(): void {
    if (stopping.signal.aborted) return;
    if (looking) {
      again = true;
      return;
    }
    looking = startFree()
      .catch((err: unknown) => log.warn({ err }, "tasks could not be read; the server retries shortly"))
      .finally(() => {
        looking = null;
        if (again) {
          again = false;
          look();
        }
      });
  }

  if (isAlone(services)) await store.tasks.update({ where: not(isNull("runner_until")), set: noLease });
  const unlisten = await store.listen(channels.tasks, look, look);
  // Real time: the injected clock decides which tasks are due, not how often to look.
  const timer = setInterval(look, LOOK_EVERY);
  timer.unref();
  look();
  return {
    async stop() {
      stopping.abort();
      clearInterval(timer);
      await unlisten();
      await looking;
      await Promise.all(running.keys());
    },
  };
}
