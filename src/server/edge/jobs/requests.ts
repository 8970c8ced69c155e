// Requested runs of jobs, and the list of jobs. Any server can store a request, and any server can carry it out.
import { recordActivity } from "../../platform/activities/record.ts";
import { channels } from "../../platform/core/channels.ts";
import { type Context, within } from "../../platform/core/context.ts";
import { conflict, notFound } from "../../platform/core/errors.ts";
import type { Job } from "../../platform/core/job.ts";
import { oneOf } from "../../platform/store/query.ts";
import { allJobs } from "./all.ts";
import { isBusy, type Run } from "./schedule.ts";

const LOCK = "jobs";

/** Documented names of jobs and groups of them that have other names here, and the jobs that do their work. */
const groups: Readonly<Record<string, readonly string[]>> = {
  cleanups_then_aggregation: [
    "host_expiry",
    "activity_expiry",
    "session_cleanup",
    "one_time_cleanup",
    "sso_cleanup",
    "outbox_cleanup",
    "policy_run_cleanup",
    "carve_expiry",
    "carve_blocks",
    "upload_cleanup",
    "live_query_cleanup",
    "counts",
    "policy_counts",
    "query_reports",
    "query_stats",
    "task_cleanup",
  ],
  vendora_mdm_dep_profile_assigner: ["dep_sync"],
  mdm_vendora_profile_manager: ["profiles", "agent_profile", "filevault", "apple_updates"],
  usage_statistics: ["counts", "policy_counts", "query_stats"],
  software_counts: ["counts"],
};

/** Jobs by the names with which they can be requested: their own, and names of groups of jobs. */
export function triggers(jobs: readonly Job[] = allJobs): ReadonlyMap<string, readonly Job[]> {
  const jobsByTrigger = new Map<string, readonly Job[]>();
  for (const [name, members] of Object.entries(groups)) {
    const groupJobs = jobs.filter((job) => members.includes(job.name));
    if (groupJobs.length > 0) jobsByTrigger.set(name, groupJobs);
  }
  for (const job of jobs) jobsByTrigger.set(job.name, [job]);
  return jobsByTrigger;
}

/** Requests a run. 409 while one of its jobs is running or already requested. */
export async function requestJob(ctx: Context, name: string): Promise<void> {
  const jobs = triggers().get(name);
  if (!jobs) throw notFound("job", name);
  await ctx.store.tx(
    async (tx) => {
      const rows = await tx.jobRuns.list({ where: ofJobs(jobs) });
      const busy = rows.find(isBusy);
      if (busy) throw conflict(alreadyRunning(busy));
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

function alreadyRunning({ name, started_at, requested_at }: Run): string {
  if (started_at === null || requested_at !== null) return `job ${name} was requested already`;
  return `job ${name} is already running since ${started_at}; if its server has died, another one continues it within two minutes`;
}

const ofJobs = (jobs: readonly Job[]) =>
  oneOf(
    "name",
    jobs.map(({ name }) => name),
  );

/** All jobs with the result of their last run. */
export async function listJobs({ store, config, settings }: Context) {
  const runs = new Map((await store.jobRuns.list()).map((run) => [run.name, run]));
  const names = [...triggers()];
  const rows = allJobs.map(async (job) => {
    const run = runs.get(job.name);
    return {
      name: job.name,
      every_seconds: ((await job.period?.({ config, settings })) ?? job.every) / 1000,
      groups: names.filter(([name, jobs]) => name !== job.name && jobs.includes(job)).map(([name]) => name),
      started_at: run?.started_at ?? null,
      finished_at: run?.finished_at ?? null,
      error: run?.error ?? null,
      running: run !== undefined && isBusy(run),
    };
  });
  return Promise.all(rows);
}
