// Asks hosts to install and uninstall software that their team offers.

import { type HostRow, hostFor } from "../../hosts/hosts/access.ts";
import { addOperations, isOpen, operationLock } from "../../hosts/operations/queue.ts";
import { operations } from "../../hosts/operations/tables.ts";
import { type Context, within } from "../../platform/core/context.ts";
import { badRequest } from "../../platform/core/errors.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq, exists, not } from "../../platform/store/query.ts";
import { closedQueryOf } from "../../software/catalogue/patching.ts";
import { type Installer, installerOfTitle, misfitOf, refusalFor } from "../../software/installers/hosts.ts";
import { addExecution } from "../scripts/executions.ts";
import { appOfTitle } from "../store-apps/apps.ts";
import { requestStoreApp } from "../store-apps/installs.ts";
import { requestInHouse } from "./in-house.ts";
import { INSTALL_TIMEOUT, type InstallSteps, softwareInstall, softwareUninstall } from "./kinds.ts";
import { isPending, refreshStatus, waitsUntilClosed } from "./status.ts";

export interface SoftwareRequest {
  readonly hostId: number;
  readonly titleId: number;
  /** The user of the host asks for it: only for software with self-service. The caller's roles still count. */
  readonly selfService?: boolean;
  /** The policy that asks for it. */
  readonly policyId?: number;
}

/** The id by which the result is found. */
export interface StartedRun {
  readonly uuid: string;
  /** The kind of software: results of store apps are those of commands, and those of uninstalls are those of scripts. */
  readonly kind: "package" | "store_app";
}

/** 400 if the host cannot install it, or is about to. */
export async function requestInstall(ctx: Context, request: SoftwareRequest): Promise<StartedRun> {
  return onHost(ctx, request, async (inside, host) => {
    const { store } = inside;
    const app = await appOfTitle(store, request.titleId, host.team_id);
    if (app !== null) {
      if (request.selfService && !app.self_service) throw notSelfService();
      const { selfService = false, policyId = null } = request;
      return { uuid: await requestStoreApp(inside, host, app, { selfService, policyId }), kind: "store_app" };
    }
    const installer = await installerOf(store, host, request);
    const refusal = await refusalFor(store, host, installer);
    if (refusal !== null) throw badRequest(refusal);
    if (installer.kind === "ipa") {
      await requireIdle(store, host, installer);
      const { id, uuid } = await requestInHouse(inside, host, installer, request.selfService ?? false);
      await addRun(inside, installer, request, { id, uuid, file_id: installer.file_id, status: "pending_install" });
      return { uuid, kind: "package" };
    }
    await requireReady(store, host, installer);
    const content = JSON.stringify(await stepsFor(store, installer, request.policyId ?? null));
    const asking = { hostIds: [host.id], content, timeout: INSTALL_TIMEOUT };
    const [operation] = await addOperations(inside, softwareInstall, asking);
    const { id, uuid } = operation!;
    await addRun(inside, installer, request, { id, uuid, file_id: installer.file_id, status: "pending_install" });
    return { uuid, kind: "package" };
  });
}

/** 400 if there is no way to uninstall it, the host does not have it, or is about to uninstall it. */
export async function requestUninstall(ctx: Context, request: SoftwareRequest): Promise<StartedRun> {
  return onHost(ctx, request, async (inside, host) => {
    const { store } = inside;
    if ((await appOfTitle(store, request.titleId, host.team_id)) !== null)
      throw badRequest("store apps cannot be uninstalled by this server");
    const installer = await installerOf(store, host, request);
    const misfit = misfitOf(host, installer);
    if (misfit !== null) throw badRequest(misfit);
    const script = installer.uninstall_script;
    if (script === "") throw badRequest(`${installer.file_name} has no script that uninstalls it`);
    await requireReady(store, host, installer);
    await requirePresent(store, host, installer);
    const asking = { hostIds: [host.id], content: script, timeout: INSTALL_TIMEOUT };
    const [operation] = await addOperations(inside, softwareUninstall, asking);
    const { id, uuid } = operation!;
    await addExecution(store, host, operation!, script);
    await addRun(inside, installer, request, { id, uuid, file_id: null, status: "pending_uninstall" });
    return { uuid, kind: "package" };
  });
}

async function onHost(
  ctx: Context,
  { hostId }: SoftwareRequest,
  ask: (inside: Context, host: HostRow) => Promise<StartedRun>,
): Promise<StartedRun> {
  await hostFor(ctx, "software:install", hostId);
  return ctx.store.tx(async (store) => {
    const inside = within(ctx, store);
    return ask(inside, await hostFor(inside, "software:install", hostId));
  }, operationLock(hostId));
}

const notSelfService = () => badRequest("the software is not offered to users of hosts");

async function installerOf(
  store: ServerTx,
  host: HostRow,
  { titleId, selfService }: SoftwareRequest,
): Promise<Installer> {
  const installer = await installerOfTitle(store, host.team_id, titleId);
  if (installer === null) {
    const where = host.team_id === null ? "to hosts without a team" : `in the team of ${host.display_name}`;
    throw badRequest(`no package or app of the software title ${titleId} is offered ${where}`);
  }
  if (selfService && !installer.self_service) throw notSelfService();
  return installer;
}

async function requireReady(store: ServerTx, host: HostRow, installer: Installer): Promise<void> {
  if ((await store.managedAgents.get(host.id)) === null)
    throw badRequest(`the host ${host.display_name} has no managed agent, which installs and uninstalls packages`);
  // Null: the agent is too old to report it.
  if (host.scripts_enabled === false) throw badRequest(`${host.display_name} does not have scripts enabled`);
  await requireIdle(store, host, installer);
}

/**
 * Only what is or was on the host can be uninstalled. A host that does not report its software may have it, and so may
 * one that tried to install it.
 */
async function requirePresent(store: ServerTx, host: HostRow, { title_id, file_name }: Installer): Promise<void> {
  const reported = (await store.hostSoftware.get(host.id))?.title_ids ?? [];
  if (reported.length === 0 || reported.includes(title_id)) return;
  const runs = and(eq("host_id", host.id), eq("title_id", title_id), not(eq("status", "canceled")));
  if ((await store.softwareInstallRuns.count(runs)) === 0)
    throw badRequest(`${host.display_name} does not have ${file_name}: it neither reports nor has installed it`);
}

async function requireIdle(store: ServerTx, host: HostRow, { title_id, file_name }: Installer): Promise<void> {
  if (await hasPendingRun(store, host.id, title_id))
    throw badRequest(`${host.display_name} is about to install or uninstall ${file_name} already`);
}

/** Whether the host is about to install or uninstall the title. Operations may have been cancelled all at once. */
export const hasPendingRun = async (store: ServerTx, hostId: number, titleId: number): Promise<boolean> =>
  (await store.softwareInstallRuns.count(
    and(eq("host_id", hostId), eq("title_id", titleId), isPending, exists(operations, "id", isOpen)),
  )) > 0;

const stepsOf = (installer: Installer): InstallSteps => ({
  sha256: installer.sha256,
  pre_install_query: installer.pre_install_query,
  install_script: installer.install_script,
  uninstall_script: installer.uninstall_script,
  post_install_script: installer.post_install_script,
});

/** Steps of an installation for a policy, which may install only while the app is closed. */
export async function stepsFor(store: ServerTx, installer: Installer, policyId: number | null): Promise<InstallSteps> {
  const steps = stepsOf(installer);
  const closed = (await waitsUntilClosed(store, policyId)) ? await closedQueryOf(store, installer) : null;
  return closed === null ? steps : { ...steps, pre_install_query: closed };
}

interface NewRun {
  readonly id: number;
  readonly uuid: string;
  readonly file_id: number | null;
  readonly status: "pending_install" | "pending_uninstall";
}

async function addRun(
  { store, clock }: Context,
  installer: Installer,
  request: SoftwareRequest,
  run: NewRun,
): Promise<void> {
  const row = await store.softwareInstallRuns.insert({
    ...run,
    created_at: clock.iso(),
    host_id: request.hostId,
    title_id: installer.title_id,
    installer_id: installer.id,
    is_uninstall: run.status === "pending_uninstall",
    file_name: installer.file_name,
    self_service: request.selfService ?? false,
    policy_id: request.policyId ?? null,
    answer: null,
    ended_at: null,
  });
  await refreshStatus(store, row);
}
