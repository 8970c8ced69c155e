// Requested runs of jobs. Any server can store a request. The leading server carries it out, so that no job runs
// twice at the same time.
import { recordActivity } from "../activities/record.ts";
import { channels } from "../core/channels.ts";
import { seconds } from "../core/clock.ts";
import { type Context, type Services, within } from "../core/context.ts";
import { conflict, notFound } from "../core/errors.ts";
import type { Job } from "../core/job.ts";
import { isNull, not, oneOf } from "../store/query.ts";
import type { RowOf } from "../store/table.ts";
import { allJobs } from "./all.ts";
import { AlreadyRunning, carryOut } from "./schedule.ts";
import type { jobRuns } from "./tables.ts";

/** Notifications may be lost, so requests are also looked up at this interval. */
const LOOK_EVERY = seconds(15);
const LOCK = "jobs";

/** Names of job groups in part C, and the jobs that do their work here. */
const groups: Readonly<Record<string, readonly string[]>> = {
  cleanups_then_aggregation: [
    "host_expiry",
    "activity_expiry",
    "session_cleanup",
    "one_time_cleanup",
    "sso_cleanup",
    "outbox_cleanup",
    "carve_expiry",
    "carve_blocks",
    "live_query_cleanup",
    "counts",
    "policy_counts",
    "query_reports",
    "query_stats",
  ],
};

/** Jobs by the names with which they can be requested: their own, and the group names of part C. */
export function triggers(jobs: readonly Job[] = allJobs): ReadonlyMap<string, readonly Job[]> {
  const found = new Map<string, readonly Job[]>();
  for (const [name, members] of Object.entries(groups)) {
    const those = jobs.filter((job) => members.includes(job.name));
    if (those.length > 0) found.set(name, those);
  }
  for (const job of jobs) found.set(job.name, [job]);
  return found;
}

/** Requests a run. 409 while one of its jobs is running or already requested. */
export async function requestJob(ctx: Context, name: string): Promise<void> {
  const jobs = triggers().get(name);
  if (!jobs) throw notFound("job", name);
  await ctx.store.tx(
    async (tx) => {
      const rows = await tx.jobRuns.list({ where: ofJobs(jobs) });
      const busy = rows.find(isBusy);
      if (busy) throw conflict(`job ${busy.name} is already running`);
      await tx.jobRuns.upsert(
        jobs.map((job) => ({ name: job.name, requested_at: ctx.clock.iso() })),
        { on: ["name"], returning: [] },
      );
      await recordActivity(within(ctx, tx), "triggered_job", { job_name: name });
      await tx.notify(channels.jobs, "");
    },
    { lock: LOCK },
  );
}

const ofJobs = (jobs: readonly Job[]) =>
  oneOf(
    "name",
    jobs.map(({ name }) => name),
  );

type Run = RowOf<typeof jobRuns>;

/** An interrupted run counts as busy too, because it restarts automatically. */
export const isBusy = (run: Run): boolean =>
  run.requested_at !== null || (run.started_at !== null && run.finished_at === null && run.error === null);

/** All jobs with the result of their last run. */
export async function listJobs({ store, config }: Context) {
  const runs = new Map((await store.jobRuns.list()).map((run) => [run.name, run]));
  const names = [...triggers()];
  const shown = allJobs.map(async (job) => {
    const run = runs.get(job.name);
    return {
      name: job.name,
      every_seconds: ((await job.period?.({ config })) ?? job.every) / 1000,
      groups: names.filter(([name, jobs]) => name !== job.name && jobs.includes(job)).map(([name]) => name),
      started_at: run?.started_at ?? null,
      finished_at: run?.finished_at ?? null,
      error: run?.error ?? null,
      running: run !== undefined && isBusy(run),
    };
  });
  return Promise.all(shown);
}

/** Carries out requests, independent of the schedule, until the signal aborts. */
export async function runRequests(services: Services, jobs: readonly Job[], signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const { store, log } = services;
  let running: Promise<void> = Promise.resolve();
  const look = () => {
    running = running
      .then(() => carryOutRequested(services, jobs, signal))
      .catch((err: unknown) => {
        log.warn({ err }, "requested jobs could not be read; the server retries shortly");
      });
  };
  const unlisten = await store.listen(channels.jobs, look, look);
  const timer = setInterval(look, LOOK_EVERY);
  timer.unref();
  look();
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
  clearInterval(timer);
  await unlisten();
  await running;
}

/** In the order of the schedule, so that cleanups run before counts. */
async function carryOutRequested(services: Services, jobs: readonly Job[], signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const asked = await services.store.jobRuns.pick(["name"], { where: not(isNull("requested_at")) });
  for (const job of jobs) {
    if (signal.aborted) return;
    if (!asked.some(({ name }) => name === job.name)) continue;
    try {
      await carryOut(services, job, signal);
    } catch (err) {
      // The schedule is running the job. The request is carried out later.
      if (!(err instanceof AlreadyRunning)) services.log.error({ err, job: job.name }, "job failed");
    }
  }
}
