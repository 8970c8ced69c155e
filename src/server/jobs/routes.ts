import { jobsApi } from "../../api/jobs.ts";
import { route } from "../core/http/route.ts";
import { listJobs, requestJob } from "./requests.ts";

export const jobRoutes = [
  route(jobsApi.list, async (_input, ctx) => ({ jobs: await listJobs(ctx) })),
  route(jobsApi.trigger, async ({ query }, ctx) => {
    await requestJob(ctx, query.name);
    return {};
  }),
];
