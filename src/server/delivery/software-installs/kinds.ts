// The operations that install and uninstall a package on a host, by its managed agent.

import { packageScripts } from "../../../api/software/packages.ts";
import {
  type Ending,
  HOST_LANE,
  type Inside,
  type Operation,
  type OperationHost,
  type OperationKind,
  type OperationView,
} from "../../hosts/operations/kind.ts";
import { endOperation } from "../../hosts/operations/queue.ts";
import { requesterOf } from "../../hosts/operations/requester.ts";
import type { ScriptResult } from "../../hosts/operations/tables.ts";
import type { Entry } from "../../platform/activities/record.ts";
import { recordActivity } from "../../platform/activities/record.ts";
import { nobody } from "../../platform/core/context.ts";
import { limit } from "../../platform/core/limits.ts";
import { byId } from "../../platform/core/maps.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { recordRuns } from "../../platform/policy-runs/record.ts";
import { eq } from "../../platform/store/query.ts";
import { maskSecrets } from "../../settings/variables/use.ts";
import { endExecution, expandedScript, storedResult } from "../scripts/executions.ts";
import { isUnmet, refreshStatus, statusOf, waitsUntilClosed } from "./status.ts";
import type { InstallAnswer, InstallRun, RunStatus } from "./tables.ts";

/** Seconds that hosts have. */
export const INSTALL_TIMEOUT = 3_600;

/** What a host does, as it was when the installation was asked for: the content of the operation, as JSON. */
export interface InstallSteps {
  readonly sha256: string;
  readonly pre_install_query: string;
  readonly install_script: string;
  readonly uninstall_script: string;
  readonly post_install_script: string;
}

export const installView: OperationView = {
  async upcoming(store, host, operations) {
    const rows = byId(await store.softwareInstallRuns.getMany(operations.map(({ id }) => id)));
    return Promise.all(
      operations.map(async ({ id }) => {
        const run = rows.get(id)!;
        const { type, details } = await entryOf(store, host, run);
        return { type, details: { ...details }, ...(run.self_service ? { svc_initiated: false } : {}) };
      }),
    );
  },
  refusals: async (_, operations) =>
    operations.map(({ kind, attempts }) => {
      const what = kind === softwareUninstall.name ? "uninstalling" : "installing";
      return attempts > 0 ? `the host has started ${what} the software: it cannot be cancelled` : null;
    }),
  async cancel(inside, host, operation) {
    const run = (await inside.store.softwareInstallRuns.get(operation.id))!;
    return cancelRun(inside, host, run, operation);
  },
};

/** Ends it as cancelled in the caller's transaction, under the lock of its host. Returns the activity that records it. */
export async function cancelRun(
  inside: Inside,
  host: Pick<OperationHost, "id" | "display_name">,
  run: InstallRun,
  operation: Operation,
): Promise<Entry> {
  await endOperation(inside, operation, { state: "cancelled", result: null });
  const title = await inside.store.softwareTitles.get(run.title_id);
  return {
    type: run.is_uninstall ? "canceled_uninstall_software" : "canceled_install_software",
    details: {
      host_id: host.id,
      host_display_name: host.display_name,
      software_title: title?.name ?? "",
      software_title_id: run.title_id,
    },
  };
}

/** Packages belong to a team. */
const leftTeam: OperationKind["leftTeam"] = async (inside, host, operation, teamId) => {
  const run = await inside.store.softwareInstallRuns.get(operation.id);
  const installer = run && (await inside.store.softwareInstallers.get(run.installer_id));
  return run && installer?.team_id !== teamId ? cancelRun(inside, host, run, operation) : null;
};

async function entryOf(
  store: ServerTx,
  host: Pick<OperationHost, "id" | "display_name">,
  run: InstallRun,
): Promise<Extract<Entry, { type: "installed_software" | "uninstalled_software" }>> {
  const title = await store.softwareTitles.get(run.title_id);
  const common = {
    host_id: host.id,
    host_display_name: host.display_name,
    software_title: title?.name ?? "",
    self_service: run.self_service,
    status: run.status,
    ...(title ? { source: title.source } : {}),
  };
  if (run.is_uninstall) return { type: "uninstalled_software", details: { ...common, script_execution_id: run.uuid } };
  const policy = run.policy_id === null ? null : await store.policies.get(run.policy_id);
  return {
    type: "installed_software",
    details: {
      ...common,
      software_package: run.file_name,
      install_uuid: run.uuid,
      policy_id: run.policy_id,
      policy_name: policy?.name ?? null,
    },
  };
}

export async function endRun(inside: Inside, operation: Operation, ended: RunStatus, answer: InstallAnswer | null) {
  const { store, clock } = inside;
  const before = await store.softwareInstallRuns.get(operation.id);
  const host = await store.hosts.get(operation.host_id);
  if (!before || !host) return;
  // The app is open: nothing was tried, and the policy asks again when the host fails it again.
  const isOpen = answer !== null && isUnmet(answer) && (await waitsUntilClosed(store, before.policy_id));
  const status = isOpen ? "canceled" : ended;
  const isGone = (await store.softwareInstallers.get(before.installer_id)) === null;
  const set = {
    status,
    answer,
    file_id: null,
    ended_at: clock.iso(),
    is_outdated: before.is_outdated || isGone,
  };
  await store.softwareInstallRuns.update({ where: eq("id", before.id), set });
  await refreshStatus(store, before);
  if (status === "canceled") return;
  // Whoever uses the host has asked for it: not a user of this server, and not the server itself.
  const actor = before.self_service ? { ...inside, user: nobody } : await requesterOf(inside, operation);
  const { type, details } = await entryOf(store, host, { ...before, ...set });
  const activityId = await recordActivity(actor, type, details, { hostId: host.id });
  if (before.policy_id === null || before.is_uninstall) return;
  const isSuccess = status === "installed";
  await recordRuns(inside, { policyId: before.policy_id, hostIds: [host.id], activityId, isSuccess });
}

export const statusAfter = ({ state }: Ending, done: RunStatus, failed: RunStatus): RunStatus =>
  state === "answered" ? done : state === "cancelled" ? "canceled" : failed;

export const softwareInstall: OperationKind<InstallAnswer> = {
  name: "software_install",
  lane: HOST_LANE,
  form: "install",
  priority: 10,
  // Twice could do harm.
  attempts: 1,
  title: "installation",
  isCancellableOnceSent: false,
  expires: true,
  view: installView,
  async outgoing({ store }, { host_id }, content) {
    const steps = JSON.parse(content) as InstallSteps;
    const expanded = await Promise.all(
      packageScripts.map((name) => steps[name] && expandedScript(store, host_id, steps[name], "software")),
    );
    return JSON.stringify({ ...steps, ...Object.fromEntries(packageScripts.map((name, i) => [name, expanded[i]])) });
  },
  async stored({ store }, { content_id }, answer) {
    const content = content_id === null ? null : await store.operationContents.get(content_id);
    const masked = async (text: string | null) =>
      text === null ? null : (await maskSecrets(store, content?.content ?? "", text)).slice(-storedInstallOutput.max);
    return {
      ...answer,
      pre_install_condition_output: await masked(answer.pre_install_condition_output),
      install_script_output: await masked(answer.install_script_output),
      post_install_script_output: await masked(answer.post_install_script_output),
    };
  },
  isDone: (answer) => statusOf(answer) === "installed",
  leftTeam,
  ended: (inside, operation, ending) =>
    endRun(inside, operation, statusAfter(ending, "installed", "failed_install"), ending.result),
};

/** Maximum stored output of each step (characters). The end is kept, since it usually contains the error. */
export const storedInstallOutput = limit({
  what: "output of a step of an installation that is stored",
  max: 10_000,
  unit: "characters",
  beyond: "The end is kept.",
});

export const softwareUninstall: OperationKind<ScriptResult> = {
  name: "software_uninstall",
  lane: HOST_LANE,
  priority: 10,
  attempts: 1,
  title: "uninstallation",
  isCancellableOnceSent: false,
  expires: true,
  view: installView,
  outgoing: ({ store }, { host_id }, content) => expandedScript(store, host_id, content, "software"),
  stored: storedResult,
  isDone: ({ exit_code }) => exit_code === 0,
  leftTeam,
  async ended(inside, operation, ending) {
    await endExecution(inside, operation, ending);
    await endRun(inside, operation, statusAfter(ending, "uninstalled", "failed_uninstall"), null);
  },
};
