import { minutes } from "../../platform/core/clock.ts";
import { serviceContext } from "../../platform/core/context.ts";
import type { Job } from "../../platform/core/job.ts";
import { forgetContents } from "./contents.ts";
import { forgetOperations } from "./expiry.ts";
import { settleOverdue } from "./queue.ts";

/** Operations that hosts have not answered in time, those that ended long ago, and contents that none needs any more. */
export const operationsJob: Job = {
  name: "operations",
  every: minutes(1),
  async run(services, signal) {
    const settled = await settleOverdue(serviceContext(services), signal);
    if (settled > 0) services.log.info({ operations: settled }, "operations were not answered in time");
    await forgetOperations(services, signal);
    await forgetContents(services);
  },
};
