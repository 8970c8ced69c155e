// Results of installations, and what views of hosts and packages show of them.

import { InstallResult } from "../../../api/delivery/software-installs.ts";
import type { HostSoftwareItem } from "../../../api/software/software.ts";
import type { Context } from "../../platform/core/context.ts";
import { notFound } from "../../platform/core/errors.ts";
import { byId } from "../../platform/core/maps.ts";
import { inTeam, may } from "../../platform/core/security/access.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq, oneOf } from "../../platform/store/query.ts";
import { type Installer, installersForHost } from "../../software/installers/hosts.ts";
import type { HostOffer, HostOffers } from "../../software/software/host-offers.ts";
import type { InstallRun } from "./tables.ts";

/** An installation of a host that the caller cannot see is answered like a missing one. */
export async function installResultOf(ctx: Context, uuid: string): Promise<InstallResult> {
  const { store } = ctx;
  const run = await store.softwareInstallRuns.first({ where: and(eq("uuid", uuid), eq("is_uninstall", false)) });
  const host = run && (await store.hosts.get(run.host_id));
  if (!run || !host || !may(ctx.user, "software:list", host.team_id)) throw notFound("software install", uuid);
  return resultOnWire(store, run, host.display_name);
}

/** The result for the host's own page. */
export async function ownInstallResult({ store }: Context, hostId: number, uuid: string): Promise<InstallResult> {
  const where = and(eq("uuid", uuid), eq("host_id", hostId), eq("is_uninstall", false));
  const run = await store.softwareInstallRuns.first({ where });
  const host = run && (await store.hosts.get(hostId));
  if (!run || !host) throw notFound("software install", uuid);
  return resultOnWire(store, run, host.display_name);
}

async function resultOnWire(store: ServerTx, run: InstallRun, host_display_name: string): Promise<InstallResult> {
  const title = await store.softwareTitles.get(run.title_id);
  const { answer } = run;
  // Null, unless the device itself installs the app.
  const appInstall = await store.storeAppInstalls.get(run.id);
  return {
    install_uuid: run.uuid,
    software_title: title?.name ?? "",
    software_title_id: run.title_id,
    software_package: run.file_name,
    host_id: run.host_id,
    host_display_name,
    status: InstallResult.shape.status.parse(run.status),
    message: appInstall?.detail || messageOf(run),
    output: answer?.install_script_output ?? null,
    install_script_exit_code: answer?.install_script_exit_code ?? null,
    pre_install_query_output: answer?.pre_install_condition_output ?? null,
    post_install_script_output: answer?.post_install_script_output ?? null,
    post_install_script_exit_code: answer?.post_install_script_exit_code ?? null,
    self_service: run.self_service,
    created_at: run.created_at,
    ended_at: run.ended_at,
  };
}

/** For users of this server. Empty: there is nothing to say. */
export function messageOf({ status, answer }: InstallRun): string {
  if (status === "pending_install")
    return "The host installs the software as soon as it is online, or is installing it now.";
  if (status === "canceled")
    return answer === null
      ? "The installation was cancelled before the host began."
      : "The app was open, so it was not patched. The policy tries again when the host fails it again.";
  if (status === "installed") return "";
  if (answer === null) return "The host did not report a result in time.";
  const { install_script_exit_code: install, post_install_script_exit_code: post } = answer;
  if (post !== null)
    return `The script that runs after the installation ${endingOf(post)}. It was rolled back, if the package has a script that uninstalls it.`;
  if (install !== null) return `The installation script ${endingOf(install)}.`;
  return "The query that runs before the installation returned no row, so the software was not installed.";
}

/** How a script has ended, as the end of a sentence. */
export function endingOf(exitCode: number): string {
  if (exitCode === -1) return "did not end in time, was interrupted, or could not start";
  if (exitCode === -2) return "was not run, because scripts are disabled on the host";
  return `ended with the exit code ${exitCode}`;
}

type ShownPackage = NonNullable<HostSoftwareItem["software_package"]>;

/** Without the outputs, which may be long. */
const shownOfRun = ["uuid", "title_id", "status", "is_uninstall", "created_at", "ended_at"] as const;
type ShownRun = Pick<InstallRun, (typeof shownOfRun)[number]>;

/** The packages that the host can install, and those of its team that it was asked to install or uninstall. */
export const packagesForHost: HostOffers = async (store, host) => {
  const [available, states, runs] = await Promise.all([
    installersForHost(store, host),
    store.softwareInstalls.list({ where: eq("host_id", host.id) }),
    store.softwareInstallRuns.pick(shownOfRun, {
      where: eq("host_id", host.id),
      order: [{ column: "id", direction: "asc" }],
    }),
  ]);
  const canInstall = new Set(available.map(({ id }) => id));
  const titleIds = [...new Set(states.filter(({ installer_id }) => installer_id !== null).map((row) => row.title_id))];
  const touched = await store.softwareInstallers.list({
    where: and(inTeam(host.team_id ?? 0), oneOf("title_id", titleIds)),
  });
  const statusOf = new Map(states.map(({ title_id, status }) => [title_id, status]));
  const installers = [...byId([...available, ...touched]).values()];
  const offered = installers.map((installer): HostOffer => {
    const runsOfTitle = runs.filter(({ title_id, status }) => title_id === installer.title_id && status !== "canceled");
    return {
      title_id: installer.title_id,
      isAvailable: canInstall.has(installer.id),
      isSelfService: installer.self_service,
      shown: {
        display_name: installer.display_name,
        status: statusOf.get(installer.title_id) ?? null,
        software_package: packageOnHost(installer, runsOfTitle),
      },
    };
  });
  const offeredIds = new Set(offered.map(({ title_id }) => title_id));
  // Titles that the team no longer offers.
  const gone = titleIds.filter((id) => !offeredIds.has(id));
  return [
    ...offered,
    ...gone.map((title_id) => ({
      title_id,
      isAvailable: false,
      isSelfService: false,
      shown: { status: statusOf.get(title_id) ?? null },
    })),
  ];
};

/** `runs`: those of the title on the host, oldest first. */
function packageOnHost(installer: Installer, runs: readonly ShownRun[]): ShownPackage {
  const install = runs.findLast(({ is_uninstall }) => !is_uninstall);
  const uninstall = runs.findLast(({ is_uninstall }) => is_uninstall);
  return {
    name: installer.file_name,
    platform: installer.platform,
    version: installer.version,
    self_service: installer.self_service,
    has_uninstall_script: installer.uninstall_script !== "",
    categories: installer.categories.length === 0 ? null : [...installer.categories],
    last_install: install ? { install_uuid: install.uuid, installed_at: install.ended_at ?? install.created_at } : null,
    last_uninstall: uninstall
      ? { script_execution_id: uninstall.uuid, uninstalled_at: uninstall.ended_at ?? uninstall.created_at }
      : null,
  };
}
