// The actions on many hosts. On each host they do what the endpoint for a single host does.
import { actAsOneOfMany } from "../../hosts/host-actions/actions.ts";
import type { ActionOptions, HostAction } from "../../hosts/host-actions/deliverer.ts";
import { changeHostLabels } from "../../hosts/labels/host-labels.ts";
import { refetchHost } from "../host-details/service.ts";
import { type BulkAction, bulkTask } from "./run.ts";

type NoOptions = Record<string, never>;

const refetchHosts: BulkAction<NoOptions> = {
  name: "refetch_hosts",
  permission: "hosts:refetch",
  async onHost(ctx, id) {
    await refetchHost(ctx, id);
    return "";
  },
  queuesOperations: true,
};

export interface LabelOptions {
  readonly add: readonly number[];
  readonly remove: readonly number[];
}

const labelHosts: BulkAction<LabelOptions> = {
  name: "label_hosts",
  permission: "hosts:label",
  async onHost(ctx, id, change) {
    await changeHostLabels(ctx, id, change);
    return "";
  },
  queuesOperations: false,
};

const action = <O extends ActionOptions>(name: string, hostAction: HostAction): BulkAction<O> => ({
  name,
  permission: "hosts:lock",
  async onHost(ctx, id, options) {
    await actAsOneOfMany(ctx, id, hostAction, options);
    return "";
  },
  queuesOperations: true,
});

export type ReasonOption = Pick<ActionOptions, "reason">;
export type WipeOptions = Pick<ActionOptions, "reason" | "wipeType">;

/** The wipes are charged to the budget of the user when their task is created. */
export const wipeHosts = action<WipeOptions>("wipe_hosts", "wipe");

export const bulkTasks = {
  refetch: bulkTask(refetchHosts),
  labels: bulkTask(labelHosts),
  lock: bulkTask(action<ReasonOption>("lock_hosts", "lock")),
  unlock: bulkTask(action<ReasonOption>("unlock_hosts", "unlock")),
  wipe: bulkTask(wipeHosts),
};

export const bulkTaskKinds = Object.values(bulkTasks);
