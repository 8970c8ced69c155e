// Installs and uninstalls a title on a set of hosts: with as many queries for a thousand hosts as for one.

import { devicesOfHosts } from "../../devices/apple/channel/devices.ts";
import type { HostRow } from "../../hosts/hosts/access.ts";
import type { Operation } from "../../hosts/operations/kind.ts";
import { addOperations, isOpen } from "../../hosts/operations/queue.ts";
import { operations } from "../../hosts/operations/tables.ts";
import type { Context } from "../../platform/core/context.ts";
import { type ApiError, badRequest } from "../../platform/core/errors.ts";
import { groupBy } from "../../platform/core/maps.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq, exists, isNull, not, oneOf, or } from "../../platform/store/query.ts";
import { closedQueryOf } from "../../software/catalogue/patching.ts";
import { type Installer, misfitOf, misfits } from "../../software/installers/hosts.ts";
import { setInstallStatuses } from "../../software/software/install-status.ts";
import { addExecutions } from "../scripts/executions.ts";
import { installRefusalsOf, requestStoreApps } from "../store-apps/installs.ts";
import type { StoreAppRow } from "../store-apps/tables.ts";
import { requestInHouse } from "./in-house.ts";
import { INSTALL_TIMEOUT, type InstallSteps, softwareInstall, softwareUninstall } from "./kinds.ts";
import { isPending, waitsUntilClosed } from "./status.ts";

export interface TitleRequest {
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

type Refusals = Map<number, ApiError>;
type Reasons = ReadonlyMap<number, string>;

/** Hosts of one team, with what the team offers of the title: at most one of the two. */
interface OfferedTo {
  readonly hosts: readonly HostRow[];
  readonly app: StoreAppRow | null;
  readonly installer: Installer | null;
}

async function offersTo(store: ServerTx, hosts: readonly HostRow[], titleId: number): Promise<OfferedTo[]> {
  const byTeam = groupBy(hosts, ({ team_id }) => team_id);
  const teamIds = [...byTeam.keys()].filter((id) => id !== null);
  const ofTeams = or(oneOf("team_id", teamIds), ...(byTeam.has(null) ? [isNull("team_id")] : []));
  const where = and(eq("title_id", titleId), ofTeams);
  const [apps, installers] = [await store.storeApps.list({ where }), await store.softwareInstallers.list({ where })];
  return [...byTeam].map(([teamId, theirs]) => ({
    hosts: theirs,
    app: apps.find(({ team_id }) => team_id === teamId) ?? null,
    installer: installers.find(({ team_id }) => team_id === teamId) ?? null,
  }));
}

/** Why hosts cannot install the title, by their ids. */
export async function installRefusals(
  store: ServerTx,
  hosts: readonly HostRow[],
  { titleId, selfService = false }: TitleRequest,
): Promise<Refusals> {
  const refusals: Refusals = new Map();
  for (const { app, installer, hosts: theirs } of await offersTo(store, hosts, titleId)) {
    const offer = app ?? installer;
    if (offer === null) refuse(refusals, notOffered(theirs, titleId));
    else if (selfService && !offer.self_service) refuse(refusals, ofAll(theirs, NOT_SELF_SERVICE));
    else if (app !== null) refuse(refusals, await installRefusalsOf(store, theirs, app));
    else refuse(refusals, await packageRefusals(store, theirs, installer!));
  }
  return refusals;
}

async function packageRefusals(store: ServerTx, hosts: readonly HostRow[], installer: Installer): Promise<Reasons> {
  const misfitting = await misfits(store, hosts, installer);
  const rest = hosts.filter(({ id }) => !misfitting.has(id));
  const unready = installer.kind === "ipa" ? inHouseRefusals(store, rest, installer) : notReady(store, rest, installer);
  return new Map([...misfitting, ...(await unready)]);
}

/** Why hosts cannot uninstall the title, by their ids. */
export async function uninstallRefusals(
  store: ServerTx,
  hosts: readonly HostRow[],
  { titleId, selfService = false }: TitleRequest,
): Promise<Refusals> {
  const refusals: Refusals = new Map();
  for (const { app, installer, hosts: theirs } of await offersTo(store, hosts, titleId)) {
    if (app !== null) refuse(refusals, ofAll(theirs, "store apps cannot be uninstalled by this server"));
    else if (installer === null) refuse(refusals, notOffered(theirs, titleId));
    else if (selfService && !installer.self_service) refuse(refusals, ofAll(theirs, NOT_SELF_SERVICE));
    else refuse(refusals, await removalRefusals(store, theirs, installer));
  }
  return refusals;
}

async function removalRefusals(store: ServerTx, hosts: readonly HostRow[], installer: Installer): Promise<Reasons> {
  const noScript = installer.uninstall_script === "" ? `${installer.file_name} has no script that uninstalls it` : null;
  const unfit = reasonsOf(hosts, (host) => misfitOf(host, installer) ?? noScript);
  const rest = hosts.filter(({ id }) => !unfit.has(id));
  const unready = await notReady(store, rest, installer);
  const ready = rest.filter(({ id }) => !unready.has(id));
  return new Map([...unfit, ...unready, ...(await notPresent(store, ready, installer))]);
}

/** Queues it on hosts that are not refused, in the caller's transaction, under the locks of their operations. */
export async function installOn(
  inside: Context,
  hosts: readonly HostRow[],
  request: TitleRequest,
): Promise<Map<number, StartedRun>> {
  const { store } = inside;
  const { titleId, selfService = false, policyId = null } = request;
  const started = new Map<number, StartedRun>();
  for (const { app, installer, hosts: theirs } of await offersTo(store, hosts, titleId)) {
    const hostIds = theirs.map(({ id }) => id);
    if (app !== null) {
      const uuids = await requestStoreApps(inside, hostIds, app, { selfService, policyId });
      for (const [id, uuid] of uuids) started.set(id, { uuid, kind: "store_app" });
      continue;
    }
    const queued =
      installer!.kind === "ipa"
        ? await requestInHouse(inside, hostIds, installer!, selfService)
        : await addOperations(inside, softwareInstall, {
            hostIds,
            content: JSON.stringify(await stepsFor(store, installer!, policyId)),
            timeout: INSTALL_TIMEOUT,
          });
    await addRuns(inside, installer!, request, queued, "pending_install");
    for (const { host_id, uuid } of queued) started.set(host_id, { uuid, kind: "package" });
  }
  return started;
}

/** `installOn` for the removal. */
export async function uninstallFrom(
  inside: Context,
  hosts: readonly HostRow[],
  request: TitleRequest,
): Promise<Map<number, StartedRun>> {
  const started = new Map<number, StartedRun>();
  for (const { installer, hosts: theirs } of await offersTo(inside.store, hosts, request.titleId)) {
    const script = installer!.uninstall_script;
    const hostIds = theirs.map(({ id }) => id);
    const asking = { hostIds, content: script, timeout: INSTALL_TIMEOUT };
    const queued = await addOperations(inside, softwareUninstall, asking);
    await addExecutions(inside.store, theirs, queued, script);
    await addRuns(inside, installer!, request, queued, "pending_uninstall");
    for (const { host_id, uuid } of queued) started.set(host_id, { uuid, kind: "package" });
  }
  return started;
}

async function addRuns(
  { store, clock }: Context,
  installer: Installer,
  { selfService = false, policyId = null }: Omit<TitleRequest, "policyId"> & { readonly policyId?: number | null },
  queued: readonly Operation[],
  status: "pending_install" | "pending_uninstall",
): Promise<void> {
  const isUninstall = status === "pending_uninstall";
  const { id: installer_id, title_id, file_id, file_name } = installer;
  await store.softwareInstallRuns.insertMany(
    queued.map(({ id, uuid, host_id }) => ({
      id,
      uuid,
      host_id,
      status,
      title_id,
      installer_id,
      file_name,
      created_at: clock.iso(),
      file_id: isUninstall ? null : file_id,
      is_uninstall: isUninstall,
      self_service: selfService,
      policy_id: policyId,
      answer: null,
      ended_at: null,
    })),
    { returning: [] },
  );
  // The newest run decides.
  const hostIds = queued.map(({ host_id }) => host_id);
  await setInstallStatuses(store, hostIds, { title_id, status, installer_id });
}

const NOT_SELF_SERVICE = "the software is not offered to users of hosts";

function refuse(refusals: Refusals, reasons: Reasons): void {
  for (const [id, reason] of reasons) refusals.set(id, badRequest(reason));
}

const ofAll = (hosts: readonly HostRow[], reason: string): Reasons => reasonsOf(hosts, () => reason);

const reasonsOf = (hosts: readonly HostRow[], reasonOf: (host: HostRow) => string | null): Map<number, string> =>
  new Map(
    hosts.flatMap((host): [number, string][] => {
      const reason = reasonOf(host);
      return reason === null ? [] : [[host.id, reason]];
    }),
  );

const notOffered = (hosts: readonly HostRow[], titleId: number): Reasons =>
  reasonsOf(hosts, ({ team_id, display_name }) => {
    const where = team_id === null ? "to hosts without a team" : `in the team of ${display_name}`;
    return `no package or app of the software title ${titleId} is offered ${where}`;
  });

async function inHouseRefusals(store: ServerTx, hosts: readonly HostRow[], installer: Installer): Promise<Reasons> {
  const hostIds = hosts.map(({ id }) => id);
  const pending = await withPendingRun(store, hostIds, installer.title_id);
  const devices = new Set((await devicesOfHosts(store, hostIds)).map(({ host_id }) => host_id));
  return reasonsOf(hosts, ({ id, display_name }) =>
    pending.has(id)
      ? aboutTo(display_name, installer)
      : devices.has(id)
        ? null
        : `${display_name} is not managed by this server`,
  );
}

async function notReady(store: ServerTx, hosts: readonly HostRow[], installer: Installer): Promise<Reasons> {
  const hostIds = hosts.map(({ id }) => id);
  const agents = new Set((await store.managedAgents.pick(["id"], { where: oneOf("id", hostIds) })).map(({ id }) => id));
  const pending = await withPendingRun(store, hostIds, installer.title_id);
  return reasonsOf(hosts, ({ id, display_name, scripts_enabled }) => {
    if (!agents.has(id)) return `the host ${display_name} has no managed agent, which installs and uninstalls packages`;
    // Null: the agent is too old to report it.
    if (scripts_enabled === false) return `${display_name} does not have scripts enabled`;
    return pending.has(id) ? aboutTo(display_name, installer) : null;
  });
}

const aboutTo = (host: string, { file_name }: Installer): string =>
  `${host} is about to install or uninstall ${file_name} already`;

/**
 * Only what is or was on the host can be uninstalled. A host that does not report its software may have it, and so may
 * one that tried to install it.
 */
async function notPresent(store: ServerTx, hosts: readonly HostRow[], { title_id, file_name }: Installer) {
  const hostIds = hosts.map(({ id }) => id);
  const reported = new Map(
    (await store.hostSoftware.pick(["id", "title_ids"], { where: oneOf("id", hostIds) })).map((row) => [
      row.id,
      row.title_ids,
    ]),
  );
  const where = and(oneOf("host_id", hostIds), eq("title_id", title_id), not(eq("status", "canceled")));
  const tried = new Set((await store.softwareInstallRuns.pick(["host_id"], { where })).map(({ host_id }) => host_id));
  return reasonsOf(hosts, ({ id, display_name }) => {
    const titleIds = reported.get(id) ?? [];
    if (titleIds.length === 0 || titleIds.includes(title_id) || tried.has(id)) return null;
    return `${display_name} does not have ${file_name}: it neither reports nor has installed it`;
  });
}

/** Which of the hosts are about to install or uninstall the title. Operations may have been cancelled all at once. */
export async function withPendingRun(
  store: ServerTx,
  hostIds: readonly number[],
  titleId: number,
): Promise<ReadonlySet<number>> {
  const where = and(oneOf("host_id", hostIds), eq("title_id", titleId), isPending, exists(operations, "id", isOpen));
  return new Set((await store.softwareInstallRuns.pick(["host_id"], { where })).map(({ host_id }) => host_id));
}

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
