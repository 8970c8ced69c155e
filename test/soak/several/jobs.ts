// Every job runs on request, whichever server receives the request and whichever runs the jobs.
import type { Caller } from "../../../bench/support/serve.ts";
import { until } from "../support/check.ts";
import { inAll } from "./figures.ts";

const DONE_MS = 120_000;

interface Job {
  readonly name: string;
  readonly running: boolean;
  readonly error: string | null;
  readonly finished_at: string | null;
}

export async function runJobs(call: Caller): Promise<unknown> {
  const list = async () => (await call<{ jobs: Job[] }>("GET", "/jobs")).jobs;
  for (const { name } of await list())
    await until(`the job ${name} can be asked for`, DONE_MS, () => isTaken(call, name));
  const isDone = ({ running, finished_at }: Job) => !running && finished_at !== null;
  await until("all jobs are done", DONE_MS, async () => (await inAll(list)).flat().every(isDone));
  return (await list()).map(({ name, error }) => [name, error]);
}

/** False while the job runs by its schedule. */
async function isTaken(call: Caller, name: string): Promise<boolean> {
  try {
    await call("POST", `/trigger?name=${name}`);
    return true;
  } catch (error) {
    if (error instanceof Error && error.message.includes(": 409 ")) return false;
    throw error;
  }
}
