// Runs jobs when they are due or requested. Every server looks for such jobs, and a lease in the job's row lets one of
// them run it. Jobs run side by side (places.ts), so a long one delays no other. The time of each run is stored, so that a restart
// repeats nothing.

import { once } from "node:events";
import { channels } from "../../platform/core/channels.ts";
import { minutes, seconds } from "../../platform/core/clock.ts";
import {
  heldBy,
  isAlone,
  isFree,
  isHeld,
  newLease,
  noLease,
  whileHeld,
} from "../../platform/core/concurrency/lease.ts";
import type { Services } from "../../platform/core/context.ts";
import type { Job } from "../../platform/core/job.ts";
import { and, eq, everything, isNull, not, type Predicate } from "../../platform/store/query.ts";
import type { RowOf } from "../../platform/store/table.ts";
import { createPlaces, type Places } from "./places.ts";
import type { jobRuns } from "./tables.ts";

/** The time until a failed job is retried, independent of its period. */
const RETRY_AFTER = minutes(5);
/** How often a server checks for due jobs. Messages about requests may be lost, so requests are found then too. */
const LOOK_EVERY = seconds(15);
const SHORTEST_LOOK = seconds(1);
/** The maximum random delay of the first check, so that servers started together do not all work at the same time. */
const START_JITTER_MS = seconds(60);

export class AlreadyRunning extends Error {}

export type Run = RowOf<typeof jobRuns>;

/** An interrupted run counts as busy too, because it restarts automatically. */
export const isBusy = (run: Run): boolean =>
  run.requested_at !== null || (run.started_at !== null && run.finished_at === null && run.error === null);

/**
 * Runs the job immediately and stores the result. Throws what the job throws, and `AlreadyRunning` if a server is
 * running it or its row no longer matches `unchanged`.
 */
export async function carryOut(
  services: Services,
  job: Job,
  signal: AbortSignal,
  unchanged: Predicate = everything,
): Promise<void> {
  const { store, clock, log } = services;
  const { name } = job;
  await store.jobRuns.upsert([{ name }], { on: ["name"], set: [], returning: [] });
  const lease = newLease(services);
  const begun = { started_at: clock.iso(), finished_at: null, error: null, requested_at: null, ...lease };
  if ((await store.jobRuns.update({ where: and(eq("name", name), isFree(services), unchanged), set: begun })) === 0)
    throw new AlreadyRunning(`job ${name} is running`);
  const mine = and(eq("name", name), heldBy(lease));
  let error: unknown = null;
  const isOver = await whileHeld(
    services,
    (set) => store.jobRuns.update({ where: mine, set }),
    signal,
    async (over) => {
      try {
        await job.run(services, over);
      } catch (thrown) {
        error = thrown ?? new Error("failed");
      }
      return over.aborted;
    },
  );
  const text = error === null ? null : error instanceof Error ? error.message.slice(0, 1000) : String(error);
  const set = { finished_at: isOver ? null : clock.iso(), error: text, ...noLease };
  await store.jobRuns.update({ where: mine, set });
  if (error !== null) throw error;
  log.debug({ job: name }, "job done");
}

/** The next start of the job, in milliseconds since 1970. A job that was interrupted by a stop starts immediately. */
async function dueAt(
  { config, settings, clock }: Pick<Services, "config" | "settings" | "clock">,
  job: Job,
  last: Run | undefined,
): Promise<number> {
  if (!last || last.started_at === null) return 0;
  const every = (await job.period?.({ config, settings })) ?? job.every;
  const started = Date.parse(last.started_at);
  // The clock was set back since.
  if (started > clock.now() + every) return 0;
  if (last.error !== null) return started + Math.min(RETRY_AFTER, every);
  if (last.finished_at === null) return 0;
  return started + every;
}

interface Due {
  readonly job: Job;
  /** The row in which the job was found due: if it has changed, another server has started the job. */
  readonly unchanged: Predicate;
}

/** The jobs that should start now. */
async function findDue(
  services: Services,
  jobs: readonly Job[],
  { places, onlyRequested }: Required<Look>,
): Promise<Due[]> {
  const runs = new Map((await services.store.jobRuns.list()).map((run) => [run.name, run]));
  const isPending = (name: string) => {
    const run = runs.get(name);
    return run !== undefined && isBusy(run);
  };
  const due: Due[] = [];
  for (const job of jobs) {
    const run = runs.get(job.name);
    if (places.has(job.name) || (run && isHeld(services, run))) continue;
    const isRequested = run !== undefined && run.requested_at !== null;
    if (isRequested && job.after?.some(isPending)) continue;
    if (!isRequested && (onlyRequested || (await dueAt(services, job, run)) > services.clock.now())) continue;
    const started_at = run?.started_at ?? null;
    due.push({ job, unchanged: started_at === null ? isNull("started_at") : eq("started_at", started_at) });
  }
  return due;
}

interface Look {
  /** The places of this server. */
  readonly places?: Places;
  readonly onlyRequested?: boolean;
}

/** Checks once, and starts the jobs that are due or requested. Resolves when all of them have ended. */
export async function runDue(
  services: Services,
  jobs: readonly Job[],
  signal: AbortSignal,
  { places = createPlaces(), onlyRequested = false }: Look = {},
): Promise<void> {
  const due = await findDue(services, jobs, { places, onlyRequested });
  const start = async ({ job, unchanged }: Due): Promise<void> => {
    if (signal.aborted) return;
    try {
      await carryOut(services, job, signal, unchanged);
    } catch (err) {
      if (!(err instanceof AlreadyRunning)) services.log.error({ err, job: job.name }, "job failed");
    }
  };
  await Promise.all(
    due.map(async (dueJob) => {
      await places.use(dueJob.job.name, () => start(dueJob));
      // Requested jobs may have waited for this one.
      if (jobs.some(({ after }) => after?.includes(dueJob.job.name)))
        await runDue(services, jobs, signal, { places, onlyRequested: true });
    }),
  );
}

/** Jobs whose period is configured may have to start more often than this server usually looks. */
async function untilNextLook(services: Services, jobs: readonly Job[]): Promise<number> {
  const periods = await Promise.all(jobs.flatMap(({ period }) => period?.(services) ?? [])).catch(() => []);
  return Math.max(SHORTEST_LOOK, Math.min(LOOK_EVERY, ...periods));
}

/** Checks at intervals and whenever a run is requested, until the signal aborts. */
export async function runSchedule(services: Services, jobs: readonly Job[], signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const { store, log } = services;
  if (isAlone(services)) await store.jobRuns.update({ where: not(isNull("runner_until")), set: noLease });
  const first = performance.now() + (await untilNextLook(services, jobs)) + services.random.int(START_JITTER_MS);
  const running = new Set<Promise<void>>();
  const places = createPlaces();
  const look = () => {
    if (signal.aborted) return;
    const checked = runDue(services, jobs, signal, { places, onlyRequested: performance.now() < first })
      .catch((err: unknown) => log.warn({ err }, "jobs could not be read; the server retries shortly"))
      .finally(() => running.delete(checked));
    running.add(checked);
  };
  const unlisten = await store.listen(channels.jobs, look, look);
  // Real time: the injected clock decides when a job is due, not how often to look.
  let timer: NodeJS.Timeout | undefined;
  const lookLater = async (): Promise<void> => {
    const wait = await untilNextLook(services, jobs);
    if (signal.aborted) return;
    timer = setTimeout(() => {
      look();
      void lookLater();
    }, wait);
    timer.unref();
  };
  void lookLater();
  look();
  if (!signal.aborted) await once(signal, "abort");
  clearTimeout(timer);
  await unlisten();
  await Promise.all(running);
}
