// One call for many hosts: what it would do, and what came of it on each of them.

import { DRY_RUN } from "../../../api/dry-run.ts";
import type { BulkOutcome } from "../../../api/inventory/bulk-actions.ts";
import { type Task, type TaskHost, tasksApi } from "../../../api/platform/tasks.ts";
import { plural } from "../../../text/plural.ts";
import { printable } from "../../../text/printable.ts";
import type { ClientCommand } from "../../client-command.ts";
import { CliError, failed } from "../../errors.ts";
import { asShown, selectionOfHosts } from "../../selection.ts";
import { waitFor } from "../../wait.ts";
import type { ChosenHost } from "./choice.ts";

export interface BulkOptions {
  readonly headers: Record<string, string>;
}
export type SendBulk = (ids: number[], options: BulkOptions) => Promise<BulkOutcome>;

/** Hosts that are named in a note about hosts that are left out. */
const MAX_NAMED = 3;
const TASK_TIMEOUT = "30m";

/** Sends the action as a dry run, and notes the hosts that are left out. */
export async function previewBulk(
  command: ClientCommand,
  hosts: readonly ChosenHost[],
  send: SendBulk,
): Promise<BulkOutcome> {
  const outcome = await asShown(await selectionOfHosts(hosts), ({ headers }) =>
    send(idsOf(hosts), { headers: { ...headers, [DRY_RUN]: "true" } }),
  );
  for (const { reason, count, hosts } of outcome.skipped_reasons) {
    const named = hosts.slice(0, MAX_NAMED).map(({ display_name, id }) => printable(display_name) || String(id));
    const names = `${named.join(", ")}${count > named.length ? ", ..." : ""}`;
    command.note(`left out: ${plural(count, "host")} (${names}): ${printable(reason)}`);
  }
  return outcome;
}

/**
 * Sends the action, and returns what came of each host when the server has reached all of them. No hosts if another
 * user must approve it first.
 */
export async function runBulk(
  command: ClientCommand,
  hosts: readonly ChosenHost[],
  send: SendBulk,
): Promise<{ outcome: BulkOutcome; results: readonly TaskHost[] }> {
  const outcome = await asShown(await selectionOfHosts(hosts), (options) => send(idsOf(hosts), options));
  const { task_id, done, skipped, count, approval } = outcome;
  if (task_id === null || approval) return { outcome, results: [] };
  if (done + skipped < count) await waitForTask(command, task_id);
  const client = await command.client();
  const { rows } = await client.all(tasksApi.hosts, { params: { id: task_id } }, "hosts");
  return { outcome, results: rows };
}

async function waitForTask(command: ClientCommand, id: number): Promise<void> {
  const progress = command.progress(`waiting for task ${id} ...`);
  let task: Task | null = null;
  const done = async () => {
    task = (await command.call(tasksApi.get, { params: { id } })).task;
    progress.update(`${task.progress} of ${plural(task.total, "host")} ...`);
    return task.finished_at !== null;
  };
  const going = () => ({
    what: `task ${id} is still running`,
    hint: `svc tasks get ${id} --wait waits for it, svc tasks hosts ${id} shows the hosts, and svc tasks cancel ${id} ends it.`,
  });
  await waitFor(command.io, command.stop.signal, { timeout: TASK_TIMEOUT, done, going }).finally(progress.done);
  const { state, error } = task as unknown as Task;
  if (state === "failed")
    throw failed(`task ${id} failed: ${printable(error)}`, `svc tasks hosts ${id} shows the hosts.`);
  if (state === "cancelled")
    throw new CliError("partial", `task ${id} was cancelled`, `svc tasks hosts ${id} shows the hosts.`);
}

const idsOf = (hosts: readonly ChosenHost[]): number[] => hosts.map(({ id }) => id);
