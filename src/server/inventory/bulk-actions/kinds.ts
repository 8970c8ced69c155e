// The actions on many hosts. On each host they do what the endpoint for a single host does.
import { actionRefusals, actOnAdmitted } from "../../hosts/host-actions/actions.ts";
import type { ActionOptions, HostAction } from "../../hosts/host-actions/deliverer.ts";
import { changeLabels, manualLabels } from "../../hosts/labels/host-labels.ts";
import { LABELS_LOCK } from "../../hosts/labels/write.ts";
import { lockOperations } from "../../hosts/operations/queue.ts";
import type { ApiError } from "../../platform/core/errors.ts";
import { refetchHosts } from "../host-details/service.ts";
import { type BulkAction, isRefusal } from "./action.ts";
import { bulkTask } from "./run.ts";

type NoOptions = Record<string, never>;

const nothingQueued: ReadonlyMap<number, string> = new Map();

const refetch: BulkAction<NoOptions> = {
  name: "refetch_hosts",
  permission: "hosts:refetch",
  lock: lockOperations,
  refusals: async () => new Map(),
  async onHosts(inside, hosts) {
    await refetchHosts(inside, hosts);
    return nothingQueued;
  },
};

export interface LabelOptions {
  readonly add: readonly number[];
  readonly remove: readonly number[];
}

const label: BulkAction<LabelOptions> = {
  name: "label_hosts",
  permission: "hosts:label",
  lock: (store) => store.tx(async () => {}, { lock: LABELS_LOCK }),
  /** A label that was deleted since the request refuses all hosts. */
  async refusals({ store }, hosts, { add, remove }) {
    try {
      await manualLabels(store, [...add, ...remove]);
      return new Map();
    } catch (error) {
      if (!isRefusal(error)) throw error;
      return new Map(hosts.map(({ id }): [number, ApiError] => [id, error]));
    }
  },
  async onHosts(inside, hosts, { add, remove }) {
    const { store } = inside;
    const [joining, leaving] = [await manualLabels(store, add), await manualLabels(store, remove)];
    await changeLabels(inside, hosts, { joining, leaving });
    return nothingQueued;
  },
};

const onHosts = <O extends ActionOptions>(name: string, action: HostAction): BulkAction<O> => ({
  name,
  permission: "hosts:lock",
  lock: lockOperations,
  refusals: (ctx, hosts) => actionRefusals(ctx, hosts, action),
  async onHosts(inside, hosts, options) {
    const deliveries = await actOnAdmitted(inside, hosts, action, options);
    return new Map(hosts.map(({ id }, i) => [id, deliveries[i]?.reference ?? ""]));
  },
});

export type ReasonOption = Pick<ActionOptions, "reason">;
export type WipeOptions = Pick<ActionOptions, "reason" | "wipeType">;

/** The wipes are charged to the budget of the user when their task is created. */
export const wipeHosts = onHosts<WipeOptions>("wipe_hosts", "wipe");

export const bulkTasks = {
  refetch: bulkTask(refetch),
  labels: bulkTask(label),
  lock: bulkTask(onHosts<ReasonOption>("lock_hosts", "lock")),
  unlock: bulkTask(onHosts<ReasonOption>("unlock_hosts", "unlock")),
  wipe: bulkTask(wipeHosts),
};

export const bulkTaskKinds = Object.values(bulkTasks);
