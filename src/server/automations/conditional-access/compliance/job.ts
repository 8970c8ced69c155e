import { channels } from "../../../platform/core/channels.ts";
import { minutes } from "../../../platform/core/clock.ts";
import { startTriggeredTask } from "../../../platform/core/concurrency/triggered-task.ts";
import type { Job } from "../../../platform/core/job.ts";
import { startedPart } from "../../../platform/core/running.ts";
import { compareAll, reportDue } from "./report.ts";

/** Reports changes within a second or two. */
export const complianceReports = startedPart("reports of compliance", async (services) => {
  const stopping = new AbortController();
  const task = await startTriggeredTask(
    services,
    {
      channel: channels.directoryDevices,
      least: 200,
      more: 400,
      failure: "the compliance of devices could not be reported; trying again",
    },
    () => reportDue(services, stopping.signal),
  );
  return {
    ...task,
    async stop() {
      stopping.abort();
      await task.stop();
    },
  };
});

/** Reports what has failed before. */
export const complianceJob: Job = { name: "directory_compliance", every: minutes(1), run: reportDue };

/** Finds what no change of a host's results has announced: settings, teams and labels that have changed. */
export const complianceComparison: Job = {
  name: "directory_comparison",
  every: minutes(10),
  async run(services, signal) {
    await compareAll(services, signal);
    await reportDue(services, signal);
  },
};
