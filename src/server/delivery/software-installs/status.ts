// Derives the state of a title on a host from its runs.
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq, not, oneOf } from "../../platform/store/query.ts";
import { setInstallStatus } from "../../software/software/install-status.ts";
import type { InstallStatus } from "../../software/software/tables.ts";
import type { InstallAnswer, InstallRun, RunStatus } from "./tables.ts";

/** Null: the host has not done anything that decides it. */
export function statusOf(answer: InstallAnswer): "installed" | "failed_install" | null {
  const { post_install_script_exit_code: post, install_script_exit_code: install } = answer;
  if (post !== null) return post === 0 ? "installed" : "failed_install";
  if (install !== null) return install === 0 ? "installed" : "failed_install";
  return isUnmet(answer) ? "failed_install" : null;
}

const ended: Readonly<Record<"uninstalled" | "canceled", true>> = { uninstalled: true, canceled: true };
const isShown = (status: RunStatus): status is InstallStatus => !(status in ended);

/** Sets the state of the title on the host to that of the last run that counts. Runs in the transaction of the change. */
export async function refreshStatus(store: ServerTx, { host_id, title_id }: Pick<InstallRun, "host_id" | "title_id">) {
  const counts = and(
    eq("host_id", host_id),
    eq("title_id", title_id),
    eq("is_outdated", false),
    not(eq("status", "canceled")),
  );
  const last = await store.softwareInstallRuns.first({ where: counts, order: [{ column: "id", direction: "desc" }] });
  const state = last && isShown(last.status) ? { status: last.status, installer_id: last.installer_id } : null;
  await setInstallStatus(store, { host_id, title_id }, state);
}

/** Whether the policy that asks for an installation lets it wait until the app is closed. */
export async function waitsUntilClosed(store: Pick<ServerTx, "policies">, policyId: number | null): Promise<boolean> {
  const policy = policyId === null ? null : await store.policies.get(policyId);
  return policy?.patch_when_closed ?? false;
}

/** Whether the host has not begun, because the query before the installation returned no row. */
export const isUnmet = ({ pre_install_condition_output, install_script_exit_code }: InstallAnswer): boolean =>
  install_script_exit_code === null && pre_install_condition_output === "";

export const isPending = oneOf("status", ["pending_install", "pending_uninstall"]);
