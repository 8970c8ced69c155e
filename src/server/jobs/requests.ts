// Runs of jobs that somebody asked for. Whoever is asked writes that down; the one server that leads carries it out, so that no job runs
// twice at once.
import { recordActivity } from "../activities/record.ts";
import { channels } from "../core/channels.ts";
import { seconds } from "../core/clock.ts";
import { type Context, type Services, within } from "../core/context.ts";
import { conflict, notFound } from "../core/errors.ts";
import { isNull, not, oneOf } from "../store/query.ts";
import type { RowOf } from "../store/table.ts";
import { allJobs } from "./all.ts";
import type { Job } from "./job.ts";
import { AlreadyRunning, carryOut } from "./schedule.ts";
import type { jobRuns } from "./tables.ts";

/** Messages may be lost: now and then it is looked for requests. */
const LOOK_EVERY = seconds(15);
const LOCK = "jobs";

/** Names that part C gives to groups of jobs, and the jobs that do that work here. */
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

/** Jobs by the names under which they can be asked for: their own, and those of part C that mean some of them. */
export function triggers(jobs: readonly Job[] = allJobs): ReadonlyMap<string, readonly Job[]> {
  const found = new Map<string, readonly Job[]>();
  for (const [name, members] of Object.entries(groups)) {
    const those = jobs.filter((job) => members.includes(job.name));
    if (those.length > 0) found.set(name, those);
  }
  for (const job of jobs) found.set(job.name, [job]);
  return found;
}

/** Asks for a run now; 409 while one of its jobs runs or is about to. */
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

/** One that a fall cut short counts too: it starts again by itself. */
export const isBusy = (run: Run): boolean =>
  run.requested_at !== null || (run.started_at !== null && run.finished_at === null && run.error === null);

/** Every job, and how it went the last time. */
export async function listJobs({ store, config }: Context) {
  const runs = new Map((await store.jobRuns.list()).map((run) => [run.name, run]));
  const names = [...triggers()];
  const told = allJobs.map(async (job) => {
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
  return Promise.all(told);
}

/** Carries out what is asked for, beside the schedule, until the signal aborts. */
export async function runRequests(services: Services, jobs: readonly Job[], signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const { store, log } = services;
  let running: Promise<void> = Promise.resolve();
  const look = () => {
    running = running
      .then(() => carryOutRequested(services, jobs, signal))
      .catch((err: unknown) => {
        log.warn({ err }, "requested jobs could not be looked for; tried again soon");
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

/** In the order of the schedule: what is cleaned up is not counted. */
async function carryOutRequested(services: Services, jobs: readonly Job[], signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const asked = await services.store.jobRuns.pick(["name"], { where: not(isNull("requested_at")) });
  for (const job of jobs) {
    if (signal.aborted) return;
    if (!asked.some(({ name }) => name === job.name)) continue;
    try {
      await carryOut(services, job, signal);
    } catch (err) {
      // The schedule is at it: the request waits for the next look.
      if (!(err instanceof AlreadyRunning)) services.log.error({ err, job: job.name }, "job failed");
    }
  }
}
