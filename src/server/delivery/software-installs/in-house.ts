// Packages for iPhones and iPads: the device itself installs them, not a managed agent.

import type { AppleDeviceListener } from "../../devices/apple/channel/listeners.ts";
import type { Operation, OperationKind } from "../../hosts/operations/kind.ts";
import { addOperations } from "../../hosts/operations/queue.ts";
import type { Context } from "../../platform/core/context.ts";
import { and, eq, isNull, not, oneOf } from "../../platform/store/query.ts";
import type { Installer } from "../../software/installers/hosts.ts";
import { addInHouseInstalls, endInHouseInstall } from "../store-apps/in-house.ts";
import { appRefusals, cancelCommand, type InstallResult, STORE_LANE } from "../store-apps/installs.ts";
import { cancelRun, endRun, installView, statusAfter } from "./kinds.ts";
import { isPending, refreshStatus } from "./status.ts";

export const inHouseInstall: OperationKind<InstallResult> = {
  name: "in_house_app",
  lane: STORE_LANE,
  priority: 10,
  attempts: 1,
  title: "in-house app",
  isCancellableOnceSent: false,
  expires: false,
  view: {
    ...installView,
    refusals: appRefusals,
    async cancel(inside, host, operation) {
      const { store } = inside;
      const [row, run] = [
        await store.storeAppInstalls.get(operation.id),
        await store.softwareInstallRuns.get(operation.id),
      ];
      await cancelCommand(inside, row!);
      return cancelRun(inside, host, run!, operation);
    },
  },
  isDone: ({ detail }) => detail === "",
  async ended(inside, operation, ending) {
    await endInHouseInstall(inside, operation, ending);
    await endRun(inside, operation, statusAfter(ending, "installed", "failed_install"), null);
  },
};

/** In the caller's transaction, under the locks of the hosts' operations. Returns these. */
export async function requestInHouse(
  inside: Context,
  hostIds: readonly number[],
  installer: Installer,
  selfService: boolean,
): Promise<Operation[]> {
  const operations = await addOperations(inside, inHouseInstall, { hostIds, content: installer.sha256, timeout: 0 });
  await addInHouseInstalls(inside, installer, operations, selfService);
  return operations;
}

/** A device that enrolls or leaves forgets what it was asked to do. Comes before the listener of store apps. */
export const inHouseListener: AppleDeviceListener = {
  async reset({ store, clock }, { host_id }) {
    const where = and(eq("host_id", host_id), eq("status", "pending"), not(isNull("installer_id")));
    const ids = (await store.storeAppInstalls.pick(["id"], { where })).map(({ id }) => id);
    if (ids.length === 0) return;
    const dropped = and(oneOf("id", ids), isPending);
    const runs = await store.softwareInstallRuns.list({ where: dropped });
    const set = { status: "canceled", file_id: null, ended_at: clock.iso() } as const;
    await store.softwareInstallRuns.update({ where: dropped, set });
    for (const run of runs) await refreshStatus(store, run);
  },
};
