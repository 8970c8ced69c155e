// Does what policies do with hosts that fail them. Any server may do any part.

import type { PolicyRow } from "../../checks/policies/applies.ts";
import { setNotice, takeAction } from "../../checks/policies/automations.ts";
import { offeredApp } from "../../checks/policies/maintained-apps.ts";
import type { policyInstalls } from "../../checks/policies/tables.ts";
import { resendForPolicy } from "../../devices/profiles/resend.ts";
import { operationLock } from "../../hosts/operations/queue.ts";
import { channels } from "../../platform/core/channels.ts";
import { minutes } from "../../platform/core/clock.ts";
import { startTriggeredTask } from "../../platform/core/concurrency/triggered-task.ts";
import { type Context, type Services, serviceContext, within } from "../../platform/core/context.ts";
import { ApiError } from "../../platform/core/errors.ts";
import type { Job } from "../../platform/core/job.ts";
import { startedPart } from "../../platform/core/running.ts";
import type { RowOf } from "../../platform/store/table.ts";
import { runForPolicy, runNotice } from "../scripts/run.ts";
import { hasPendingRun, requestInstall } from "../software-installs/service.ts";
import { noticeScript, noticeState, recordNotice } from "./notice.ts";

const BATCH_SIZE = 200;
type InstallRequest = RowOf<typeof policyInstalls>;

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
  for await (const rows of services.store.policyInstalls.pages({}, BATCH_SIZE))
    for (const row of rows) {
      if (signal.aborted) return;
      await act(services, row);
    }
}

async function act(services: Services, { id, policy_id, host_id }: InstallRequest): Promise<void> {
  const ctx = serviceContext(services);
  await services.store.tx(async (store) => {
    // Another server may have taken it, or the host passes again.
    const row = await store.policyInstalls.get(id);
    if (row === null) return;
    // The policy may have been deleted, or do nothing any more.
    const policy = await store.policies.get(policy_id);
    const inside = { ...within(ctx, store), config: ctx.config.over(store) };
    if (policy?.notify_before_patching && policy.software_title_id !== null) {
      const next = await noticeFirst(inside, row, policy);
      if (next === "wait") return;
      if (next === "drop") {
        await takeAction(store, id);
        return;
      }
    }
    if (!(await takeAction(store, id))) return;
    const unless = (what: string, work: () => Promise<unknown>) => unlessRefused(inside, row, what, work);
    const titleId = policy?.software_title_id ?? null;
    if (titleId !== null)
      await unless("a policy did not install software", () =>
        requestInstall(inside, { hostId: host_id, titleId, policyId: policy_id }),
      );
    const script_id = policy?.script_id ?? null;
    if (script_id !== null)
      await unless("a policy did not run a script", () => runForPolicy(inside, { host_id, script_id }, policy_id));
    const profile = policy?.resend_profile_uuid ?? null;
    if (policy && profile !== null)
      await unless("a policy did not send a profile again", () => resendForPolicy(inside, host_id, profile, policy));
  }, operationLock(host_id));
}

/** What is refused has written nothing. Returns whether it was done. */
async function unlessRefused(
  { log }: Pick<Context, "log">,
  { policy_id, host_id }: InstallRequest,
  what: string,
  work: () => Promise<unknown>,
): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    // The host cannot do it, or is about to.
    if (!(error instanceof ApiError) || error.status >= 500) throw error;
    log.info({ policy_id, host_id, reason: error.errors[0]?.reason ?? error.message }, what);
    return false;
  }
}

/** The user of the host is notified before the app is installed, once. `drop`: it is about to be installed already. */
async function noticeFirst(
  inside: Context,
  row: InstallRequest,
  policy: PolicyRow,
): Promise<"wait" | "install" | "drop"> {
  const { store, clock } = inside;
  const { host_id, notice_uuid: uuid } = row;
  const [host, title] = [await store.hosts.get(host_id), await store.softwareTitles.get(policy.software_title_id!)];
  if (!host || !title || (await hasPendingRun(store, host_id, title.id))) return "drop";
  if (uuid === null) {
    const app = await offeredApp(store, host.team_id, { id: policy.catalogue_app_id ?? 0 });
    if (!app?.offer) return "drop";
    const text = noticeScript(app.platform, app.name, app.offer.version);
    const isNotified = await unlessRefused(
      inside,
      row,
      "the user of a host was not notified before patching",
      async () => setNotice(store, row.id, (await runNotice(inside, host_id, text, policy.id)).uuid),
    );
    return isNotified ? "wait" : "install";
  }
  const state = await noticeState(store, uuid, clock.now());
  if (!state.isOver) return "wait";
  await recordNotice(inside, host, policy, { ...state, uuid, title: title.name });
  return "install";
}
