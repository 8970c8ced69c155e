// Runs due jobs on the leading server. The time of each run is stored, so that a restart repeats nothing.
import { minutes, seconds } from "../core/clock.ts";
import type { Services } from "../core/context.ts";
import type { Job } from "../core/job.ts";
import type { ServerStore } from "../core/tables.ts";
import { eq } from "../store/query.ts";

/** The time until a failed job is retried, independent of its period. */
const RETRY_AFTER = minutes(5);
/** How often the leader checks for due jobs. */
const LOOK_EVERY = seconds(15);
/** The maximum random delay of the first check, so that servers started together do not all work at the same time. */
const JITTER = seconds(60);

export class AlreadyRunning extends Error {}

const running = new WeakMap<ServerStore, Set<string>>();

/** Runs the job immediately and stores the result. Throws what the job throws. */
export async function carryOut(services: Services, job: Job, signal: AbortSignal): Promise<void> {
  const { store, clock, log } = services;
  const names = running.get(store) ?? new Set<string>();
  running.set(store, names);
  if (names.has(job.name)) throw new AlreadyRunning(`job ${job.name} is running`);
  names.add(job.name);
  try {
    const started_at = clock.iso();
    const begun = { name: job.name, started_at, finished_at: null, error: null, requested_at: null };
    await store.jobRuns.upsert([begun], { on: ["name"] });
    let error: unknown = null;
    try {
      await job.run(services, signal);
    } catch (thrown) {
      error = thrown ?? new Error("failed");
    }
    const text = error === null ? null : error instanceof Error ? error.message.slice(0, 1000) : String(error);
    await store.jobRuns.update({
      where: eq("name", job.name),
      set: { finished_at: signal.aborted ? null : clock.iso(), error: text },
    });
    if (error !== null) throw error;
    log.debug({ job: job.name }, "job done");
  } finally {
    names.delete(job.name);
  }
}

/** The next start of the job, in milliseconds since 1970. A job that was interrupted by a stop starts immediately. */
export async function dueAt(services: Services, job: Job): Promise<number> {
  const last = await services.store.jobRuns.first({ where: eq("name", job.name) });
  const every = (await job.period?.(services)) ?? job.every;
  if (!last || last.started_at === null) return 0;
  if (last.error !== null) return Date.parse(last.started_at) + Math.min(RETRY_AFTER, every);
  if (last.finished_at === null) return 0;
  return Date.parse(last.started_at) + every;
}

/** Checks once and runs the due jobs, one after the other. */
export async function runDue(services: Services, jobs: readonly Job[], signal: AbortSignal): Promise<void> {
  for (const job of jobs) {
    if (signal.aborted) return;
    try {
      if ((await dueAt(services, job)) > services.clock.now()) continue;
      await carryOut(services, job, signal);
    } catch (err) {
      if (!(err instanceof AlreadyRunning)) services.log.error({ err, job: job.name }, "job failed");
    }
  }
}

/** Checks until the signal aborts, for the first time after a random part of a minute. */
export async function runSchedule(services: Services, jobs: readonly Job[], signal: AbortSignal): Promise<void> {
  await pause(LOOK_EVERY + services.random.int(JITTER), signal);
  while (!signal.aborted) {
    await runDue(services, jobs, signal);
    await pause(LOOK_EVERY, signal);
  }
}

/** Uses real time: the injected clock decides when a job is due, not how long to sleep. */
function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    timer.unref();
    signal.addEventListener("abort", done, { once: true });
  });
}
