// Installs software and runs scripts on hosts that newly fail a policy. Any server may do any part.
import { channels } from "../core/channels.ts";
import { minutes } from "../core/clock.ts";
import { startTriggeredTask } from "../core/concurrency/triggered-task.ts";
import { type Services, serviceContext, within } from "../core/context.ts";
import { ApiError } from "../core/errors.ts";
import type { Job } from "../core/job.ts";
import { startedPart } from "../core/running.ts";
import { operationLock } from "../operations/queue.ts";
import { takeAction } from "../policies/automations.ts";
import type { policyInstalls } from "../policies/tables.ts";
import { runForPolicy } from "../scripts/run.ts";
import { requestInstall } from "../software-installs/service.ts";
import type { RowOf } from "../store/table.ts";

const BATCH = 200;

export const policyActions = startedPart("actions of policies", (services) =>
  startTriggeredTask(
    services,
    {
      channel: channels.policyInstalls,
      least: 100,
      more: 400,
      failure: "cannot act on hosts that fail policies; trying again",
    },
    () => actDue(services, new AbortController().signal),
  ),
);

export const policyActionsJob: Job = { name: "policy_actions", every: minutes(1), run: actDue };

async function actDue(services: Services, signal: AbortSignal): Promise<void> {
  for await (const rows of services.store.policyInstalls.pages({}, BATCH))
    for (const row of rows) {
      if (signal.aborted) return;
      await act(services, row);
    }
}

async function act(services: Services, { id, policy_id, host_id }: RowOf<typeof policyInstalls>): Promise<void> {
  const ctx = serviceContext(services);
  await services.store.tx(async (store) => {
    if (!(await takeAction(store, id))) return;
    // It may have been deleted, or do nothing any more.
    const policy = await store.policies.get(policy_id);
    const inside = { ...within(ctx, store), config: ctx.config.over(store) };
    const unlessRefused = async (what: string, work: () => Promise<unknown>): Promise<void> => {
      try {
        await work();
      } catch (error) {
        // The host cannot do it, or is about to. What refuses has written nothing.
        if (!(error instanceof ApiError) || error.status >= 500) throw error;
        services.log.info({ policy_id, host_id, reason: error.errors[0]?.reason ?? error.message }, what);
      }
    };
    const titleId = policy?.software_title_id ?? null;
    if (titleId !== null)
      await unlessRefused("a policy did not install software", () =>
        requestInstall(inside, { hostId: host_id, titleId, policyId: policy_id }),
      );
    const script_id = policy?.script_id ?? null;
    if (script_id !== null)
      await unlessRefused("a policy did not run a script", () =>
        runForPolicy(inside, { host_id, script_id }, policy_id),
      );
  }, operationLock(host_id));
}
