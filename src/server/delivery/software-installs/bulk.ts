// Installs and uninstalls a title on many hosts: on each of them what its team offers.
import type { BulkOutcome } from "../../../api/inventory/bulk-actions.ts";
import { lockOperations } from "../../hosts/operations/queue.ts";
import type { BulkAction } from "../../inventory/bulk-actions/action.ts";
import { actOnHosts, bulkTask } from "../../inventory/bulk-actions/run.ts";
import type { Choice } from "../../inventory/host-list/chosen.ts";
import type { Context } from "../../platform/core/context.ts";
import type { Reply } from "../../platform/core/http/route.ts";
import { installOn, installRefusals, type StartedRun, uninstallFrom, uninstallRefusals } from "./sets.ts";

const permission = "software:install";

interface TitleOption {
  readonly titleId: number;
}

const uuidsOf = (started: ReadonlyMap<number, StartedRun>): ReadonlyMap<number, string> =>
  new Map([...started].map(([id, { uuid }]) => [id, uuid]));

const install: BulkAction<TitleOption> = {
  name: "install_software",
  permission,
  lock: lockOperations,
  refusals: ({ store }, hosts, { titleId }) => installRefusals(store, hosts, { titleId }),
  onHosts: async (inside, hosts, { titleId }) => uuidsOf(await installOn(inside, hosts, { titleId })),
};

const uninstall: BulkAction<TitleOption> = {
  name: "uninstall_software",
  permission,
  lock: lockOperations,
  refusals: ({ store }, hosts, { titleId }) => uninstallRefusals(store, hosts, { titleId }),
  onHosts: async (inside, hosts, { titleId }) => uuidsOf(await uninstallFrom(inside, hosts, { titleId })),
};

export const installTask = bulkTask(install);
export const uninstallTask = bulkTask(uninstall);

/** A title that does not exist is answered like one that is not offered to the hosts: each is skipped for this reason. */
export const installOnMany = (ctx: Context, titleId: number, choice: Choice, reply: Reply): Promise<BulkOutcome> =>
  actOnHosts(ctx, installTask, { permission, choice, options: { titleId } }, reply);

export const uninstallFromMany = (ctx: Context, titleId: number, choice: Choice, reply: Reply): Promise<BulkOutcome> =>
  actOnHosts(ctx, uninstallTask, { permission, choice, options: { titleId } }, reply);
