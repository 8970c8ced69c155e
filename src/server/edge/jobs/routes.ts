import { jobsApi } from "../../../api/platform/jobs.ts";
import { route } from "../../platform/core/http/route.ts";
import { listJobs, requestJob } from "./requests.ts";

export const jobRoutes = [
  route(jobsApi.list, async (_input, ctx) => ({ jobs: await listJobs(ctx) })),
  route(jobsApi.trigger, async ({ query }, ctx) => {
    await requestJob(ctx, query.name);
    return {};
  }),
];
