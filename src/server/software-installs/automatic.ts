// Installs software on hosts that newly fail a policy. Any server may do any part.
import { channels } from "../core/channels.ts";
import { minutes } from "../core/clock.ts";
import { startTriggeredTask } from "../core/concurrency/triggered-task.ts";
import { type Services, serviceContext, within } from "../core/context.ts";
import { ApiError } from "../core/errors.ts";
import type { Job } from "../core/job.ts";
import { startedPart } from "../core/running.ts";
import { operationLock } from "../operations/queue.ts";
import { takeInstall } from "../policies/automations.ts";
import type { policyInstalls } from "../policies/tables.ts";
import type { RowOf } from "../store/table.ts";
import { requestInstall } from "./service.ts";

const BATCH = 200;

export const policyInstaller = startedPart("installs by policies", (services) =>
  startTriggeredTask(
    services,
    {
      channel: channels.policyInstalls,
      least: 100,
      more: 400,
      failure: "cannot install software on hosts that fail policies; trying again",
    },
    () => installDue(services, new AbortController().signal),
  ),
);

export const policyInstallsJob: Job = { name: "policy_installs", every: minutes(1), run: installDue };

async function installDue(services: Services, signal: AbortSignal): Promise<void> {
  for await (const rows of services.store.policyInstalls.pages({}, BATCH))
    for (const row of rows) {
      if (signal.aborted) return;
      await install(services, row);
    }
}

async function install(services: Services, row: RowOf<typeof policyInstalls>): Promise<void> {
  const ctx = serviceContext(services);
  await services.store.tx(async (store) => {
    if (!(await takeInstall(store, row.id))) return;
    const policy = await store.policies.get(row.policy_id);
    // It does not install anything any more.
    if (!policy || policy.software_title_id === null) return;
    const asked = { hostId: row.host_id, titleId: policy.software_title_id, policyId: policy.id };
    try {
      await requestInstall(within(ctx, store), asked);
    } catch (error) {
      // The host cannot install it, or is about to. What refuses has written nothing.
      if (!(error instanceof ApiError) || error.status >= 500) throw error;
      const reason = error.errors[0]?.reason ?? error.message;
      services.log.info({ policy_id: policy.id, host_id: row.host_id, reason }, "a policy did not install software");
    }
  }, operationLock(row.host_id));
}
