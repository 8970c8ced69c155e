// What managed agents call to install what they were asked to. Each call is about the agent's own host.

import type { z } from "zod";
import type { Download } from "../../../api/bodies.ts";
import type { managedAgentApi } from "../../../api/delivery/managed-agent.ts";
import type { Operation } from "../../hosts/operations/kind.ts";
import { answerOperation, operationInTurn, operationLock, sendContent } from "../../hosts/operations/queue.ts";
import { operations } from "../../hosts/operations/tables.ts";
import { recordEntries } from "../../platform/activities/record.ts";
import { type Context, service, within } from "../../platform/core/context.ts";
import { notFound } from "../../platform/core/errors.ts";
import { limit } from "../../platform/core/limits.ts";
import { downloadOf } from "../../platform/files/service.ts";
import { and, eq, exists } from "../../platform/store/query.ts";
import { cancelRun, INSTALL_TIMEOUT, type InstallSteps } from "./kinds.ts";
import { stepsFor } from "./sets.ts";
import { statusOf } from "./status.ts";
import type { InstallAnswer, InstallRun } from "./tables.ts";

type Details = z.output<typeof managedAgentApi.installDetails.response>;

/** The installation counts as sent from then on. 404 if it is not the host's turn for it. */
export async function installDetails(ctx: Context, hostId: number, uuid: string): Promise<Details> {
  const details = await ctx.store.tx(async (store) => {
    const inside = within(ctx, store);
    const operation = await operationInTurn(inside, hostId, uuid, "install");
    const run = operation && (await store.softwareInstallRuns.get(operation.id));
    if (!operation || !run) return null;
    if (operation.attempts === 0 && !(await isCurrent(inside, run, operation))) {
      await cancelOutdated(inside, run, operation);
      return null;
    }
    const { content } = await sendContent(inside, operation);
    const file = run.file_id === null ? null : await store.files.get(run.file_id);
    return detailsOf(run, JSON.parse(content) as InstallSteps, file?.size ?? 0);
  }, operationLock(hostId));
  if (details === null) throw notFound("software install", uuid);
  return details;
}

/** Whether the host's team still offers just what was asked for: host and package may have changed at that moment. */
async function isCurrent({ store }: Context, run: InstallRun, { content_id }: Operation): Promise<boolean> {
  const installer = await store.softwareInstallers.get(run.installer_id);
  const host = await store.hosts.get(run.host_id);
  const content = content_id === null ? null : await store.operationContents.get(content_id);
  if (installer === null || installer.team_id !== host?.team_id) return false;
  return content?.content === JSON.stringify(await stepsFor(store, installer, run.policy_id));
}

async function cancelOutdated(inside: Context, run: InstallRun, operation: Operation): Promise<void> {
  const host = (await inside.store.hosts.get(run.host_id))!;
  const server = { ...inside, user: service };
  await recordEntries(server, [await cancelRun(server, host, run, operation)], { hostId: host.id });
}

const detailsOf = (run: InstallRun, steps: InstallSteps, size: number): Details => ({
  install_id: run.uuid,
  installer_id: run.installer_id,
  installer_name: run.file_name,
  installer_size: size,
  installer_sha256: steps.sha256,
  timeout: INSTALL_TIMEOUT,
  pre_install_condition: steps.pre_install_query,
  install_script: steps.install_script,
  uninstall_script: steps.uninstall_script,
  post_install_script: steps.post_install_script,
  self_service: run.self_service,
});

/** The file of an installation that the host has begun, as it was when it was asked for. */
export async function installPackage(ctx: Context, hostId: number, installerId: number): Promise<Download> {
  const begun = and(
    eq("host_id", hostId),
    eq("installer_id", installerId),
    eq("status", "pending_install"),
    exists(operations, "id", eq("state", "sent")),
  );
  const run = await ctx.store.softwareInstallRuns.first({ where: begun, order: [{ column: "id", direction: "desc" }] });
  if (!run || run.file_id === null) throw notFound("software installer", installerId);
  return downloadOf(ctx, run.file_id, { name: run.file_name });
}

/** Maximum output of a step that is looked at (characters), of which a part is stored. The end is kept. */
export const installOutput = limit({
  what: "output of a step of an installation that is looked at",
  max: 100_000,
  unit: "characters",
  beyond: "The end is kept, of which a part is stored.",
});
const endOf = (text: string | null): string | null => text?.slice(-installOutput.max) ?? null;

/** An answer that decides nothing yet is ignored, and so is one that arrives again. */
export async function installResult(
  ctx: Context,
  hostId: number,
  { install_uuid, ...sent }: InstallAnswer & { readonly install_uuid: string },
): Promise<void> {
  const answer: InstallAnswer = {
    pre_install_condition_output: endOf(sent.pre_install_condition_output),
    install_script_exit_code: sent.install_script_exit_code,
    install_script_output: endOf(sent.install_script_output),
    post_install_script_exit_code: sent.post_install_script_exit_code,
    post_install_script_output: endOf(sent.post_install_script_output),
  };
  if (statusOf(answer) === null) {
    const isInstall = and(eq("uuid", install_uuid), eq("host_id", hostId), eq("is_uninstall", false));
    if ((await ctx.store.softwareInstallRuns.count(isInstall)) === 0) throw notFound("software install", install_uuid);
    return;
  }
  await answerOperation(ctx, hostId, install_uuid, answer, undefined, "install");
}
