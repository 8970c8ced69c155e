// Shared by the commands that add hosts to manual labels and remove them: the choice of hosts, and the calls.

import { bulkActionsApi } from "../../../api/inventory/bulk-actions.ts";
import { plural } from "../../../text/plural.ts";
import { printable } from "../../../text/printable.ts";
import type { ClientCommand } from "../../client-command.ts";
import { CliError, failed, usage } from "../../errors.ts";
import { previewBulk, runBulk, type SendBulk } from "./bulk.ts";
import { askTyped, confirmFlag, findTargets, type Target, targetFlags } from "./targets.ts";

export const hostLabelFlags = { ...targetFlags, ...confirmFlag };

interface LabelFlags {
  readonly where?: string | undefined;
  readonly "all-hosts"?: boolean | undefined;
  readonly "dry-run"?: boolean | undefined;
}

/** What differs between the two commands. */
interface HostLabelChange {
  readonly verb: "add" | "remove";
  readonly preposition: "to" | "from";
  requestOne(id: number, labels: string[]): Promise<unknown>;
}

export class HostLabels {
  readonly #command: ClientCommand;
  readonly #steps: HostLabelChange;

  constructor(command: ClientCommand, steps: HostLabelChange) {
    this.#command = command;
    this.#steps = steps;
  }

  async change(names: readonly string[], flags: LabelFlags): Promise<void> {
    const isSelected = flags.where !== undefined || flags["all-hosts"] === true;
    const labels = isSelected ? [...names] : names.slice(1);
    if (labels.length === 0 && (isSelected || names.length > 0))
      throw usage("no labels are given", isSelected ? "Give the labels." : "Give the labels after the host.");
    if (isSelected) await this.#changeMany(await findTargets(this.#command, [], flags, "label"), labels, flags);
    else await this.#changeOne(names[0] ?? "", labels, flags["dry-run"] === true);
  }

  async #changeOne(name: string, labels: string[], isDry: boolean): Promise<void> {
    if (name === "") throw usage("no hosts are given", "Name one before the labels, or select hosts with --where.");
    const { id, display_name } = await this.#command.host(name);
    const what = this.#sentence(printable(display_name), labels);
    if (isDry) this.#command.trying(`${this.#steps.verb} ${what}`, { id, display_name, labels });
    await this.#steps.requestOne(id, labels);
    await this.#command.report(`${this.#done} ${what}`, { id, display_name, labels });
  }

  async #changeMany(hosts: readonly Target[], labels: string[], flags: LabelFlags): Promise<void> {
    const send: SendBulk = (ids, options) =>
      this.#command.call(bulkActionsApi.labels, { body: { ids, [this.#steps.verb]: labels } }, options);
    const what = this.#sentence(plural(hosts.length, "host"), labels);
    const preview = await previewBulk(this.#command, hosts, send);
    if (flags["dry-run"] === true) {
      const shown = hosts.map(({ id, display_name }) => ({ id, display_name }));
      await this.#command.printPlan(`${this.#steps.verb} ${what}`, shown);
      return conclude(hosts, preview.skipped);
    }
    await askTyped(this.#command, `${this.#steps.verb === "add" ? "Add" : "Remove"} ${what}?`, hosts);
    const { outcome, results } = await runBulk(this.#command, hosts, send);
    const changed = results
      .filter((host) => host.outcome === "done")
      .map(({ id, display_name }) => ({ id, display_name }));
    const skipped = results.length - changed.length;
    await this.#command.report(`${this.#done} ${this.#sentence(plural(changed.length, "host"), labels)}`, {
      labels,
      hosts: changed,
      task_id: outcome.task_id,
    });
    conclude(hosts, skipped);
  }

  get #done(): string {
    return this.#steps.verb === "add" ? "added" : "removed";
  }

  #sentence(hosts: string, labels: readonly string[]): string {
    return `${hosts} ${this.#steps.preposition} ${labels.map(printable).join(", ")}`;
  }
}

function conclude(hosts: readonly Target[], skipped: number): void {
  if (skipped > 0 && skipped === hosts.length) throw failed("failed on all hosts");
  if (skipped > 0) throw new CliError("partial", `${skipped} of ${plural(hosts.length, "host")} failed`);
}
