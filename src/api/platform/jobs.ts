import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { Empty, Timestamp } from "../fields.ts";

export const Job = z.object({
  name: z.string(),
  every_seconds: z.number().meta({ description: "seconds from one start to the next" }),
  groups: z.array(z.string()).meta({ description: "names that trigger it together with other jobs" }),
  started_at: Timestamp.nullable().meta({ description: "start of the last run" }),
  finished_at: Timestamp.nullable(),
  error: z.string().nullable().meta({ description: "error of the last run" }),
  running: z.boolean().meta({ description: "whether it is running or about to start" }),
});
export type Job = z.infer<typeof Job>;

const access = { action: "jobs:trigger", scope: "global" } as const;

export const jobsApi = {
  list: endpoint({
    method: "GET",
    path: "/jobs",
    summary: "List the server's jobs and the result of their last runs.",
    access,
    response: z.object({ jobs: z.array(Job) }),
  }),
  trigger: endpoint({
    method: "POST",
    path: "/trigger",
    summary: "Run a job immediately; it continues after the reply.",
    access,
    query: z.object({ name: z.string().max(255).meta({ description: "a job's name, or one of its groups" }) }),
    response: Empty,
  }),
};
