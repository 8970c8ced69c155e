import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { Empty, Timestamp } from "./fields.ts";

export const Job = z.object({
  name: z.string(),
  every_seconds: z.number().meta({ description: "seconds from one start to the next" }),
  groups: z.array(z.string()).meta({ description: "other names under which it can be triggered, with others" }),
  started_at: Timestamp.nullable().meta({ description: "when it last began" }),
  finished_at: Timestamp.nullable(),
  error: z.string().nullable().meta({ description: "why it failed the last time" }),
  running: z.boolean().meta({ description: "it runs, or is about to" }),
});
export type Job = z.infer<typeof Job>;

const access = { action: "jobs:trigger", scope: "global" } as const;

export const jobsApi = {
  list: endpoint({
    method: "GET",
    path: "/jobs",
    summary: "List the server's jobs, and how each went the last time.",
    access,
    response: z.object({ jobs: z.array(Job) }),
  }),
  trigger: endpoint({
    method: "POST",
    path: "/trigger",
    summary: "Have a job run now; it goes on after the reply.",
    access,
    query: z.object({ name: z.string().max(255).meta({ description: "a job's name, or one of its groups" }) }),
    response: Empty,
  }),
};
