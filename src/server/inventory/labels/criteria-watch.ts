// Labels by what is known of the people who use hosts are computed soon after a change of it.
import { channels } from "../../platform/core/channels.ts";
import { startTriggeredTask } from "../../platform/core/concurrency/triggered-task.ts";
import { startedPart } from "../../platform/core/running.ts";
import { updateCriteriaLabels } from "./criteria-job.ts";

export const criteriaWatch = startedPart("label criteria", (services) =>
  startTriggeredTask(
    services,
    {
      channel: channels.endUsers,
      least: 100,
      more: 200,
      apart: 1_000,
      failure: "labels by people were not computed; trying again",
    },
    () => updateCriteriaLabels(services, ({ criteria }) => criteria !== null && "vital" in criteria),
  ),
);
