import { hostsApi } from "../../api/inventory/hosts.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args, dryRunFlag, yesFlag } from "../../cli/flags.ts";
import { asShown, needsApproval } from "../../cli/selection.ts";
import {
  checkChoice,
  choiceFlags,
  filtersOr,
  namedHosts,
  nameOfShown,
  pickedHosts,
  printSelection,
  type ShownHosts,
  shownNamed,
  shownPicked,
} from "../../cli/topics/hosts/choice.ts";
import { plural } from "../../text/plural.ts";
import { printable } from "../../text/printable.ts";

export default class HostsDelete extends ClientCommand {
  static override summary = "Delete hosts. They may enroll again.";
  static override destructive = true;
  static override description =
    "Hosts are named, or selected by filters. Asks y or N for one host. For several, you must type their number or give --confirm " +
    "NUMBER; --yes is not enough. A selection of all hosts needs --all-hosts. Nothing is deleted if the selection has changed " +
    "in the meantime (exit code 5). If the server requires another admin's approval, it is requested instead (exit code 7).";
  static override endpoints = [hostsApi.delete, hostsApi.deleteMany];
  static override strict = false;
  static override args = { hosts: args.hosts };
  static override flags = { ...choiceFlags, ...yesFlag, ...dryRunFlag };
  static override examples = [
    "<%= config.bin %> <%= command.id %> mac-1.example.com --yes",
    "<%= config.bin %> <%= command.id %> mac-1.example.com linux-1.example.com --confirm 2",
    "<%= config.bin %> <%= command.id %> --status offline --confirm 2 --dry-run",
    "<%= config.bin %> <%= command.id %> --where 'seen > 14d and not label = Loaners' --confirm 1",
  ];

  async run() {
    const { argv, flags } = await this.parse(HostsDelete);
    const names = argv.map(String);
    const filters = await filtersOr(this, names, flags);
    if (flags["dry-run"]) {
      const hosts = filters === null ? await namedHosts(this, names) : await pickedHosts(this, filters, "delete");
      await checkChoice(this, hosts.length, flags["all-hosts"]);
      this.trying(`delete ${plural(hosts.length, "host")}`, hosts);
    }
    const shown =
      filters === null ? await shownNamed(await namedHosts(this, names)) : await shownPicked(this, filters, "delete");
    const { count } = shown.selection;
    await checkChoice(this, count, flags["all-hosts"]);
    await this.#ask(shown, flags.confirm);

    const [only] = shown.first;
    const body = filters === null ? { ids: shown.first.map(({ id }) => id) } : { filters };
    const { approval, task_id } = await asShown(shown.selection, (options) =>
      count === 1 && only
        ? this.call(hostsApi.delete, { params: { id: only.id } }, options)
        : this.call(hostsApi.deleteMany, { body }, options),
    );
    if (approval) {
      if (this.structured) await this.printOne({ deleted: 0, approval });
      throw needsApproval([approval]);
    }
    if (task_id !== undefined) {
      const hint = `svc tasks get ${task_id} --wait waits for it, and svc tasks cancel ${task_id} ends it`;
      await this.report(`task ${task_id} is deleting ${plural(count, "host")}: ${hint}`, { task_id });
      return;
    }
    const deleted = filters === null || count === 1 ? { hosts: shown.first } : { filters };
    await this.report(`deleted ${nameOfShown(shown)}`, { deleted: count, ...deleted });
  }

  async #ask(shown: ShownHosts, confirm: string | undefined): Promise<void> {
    const [only] = shown.first;
    const { count } = shown.selection;
    if (count > 1 || !only) {
      printSelection(this, shown);
      return this.confirmTyped(`Delete ${plural(count, "host")}?`, String(count));
    }
    const name = printable(only.display_name);
    if (confirm === undefined) return this.confirm(`Delete ${name}?`);
    if (confirm !== "1") await this.confirmTyped(`Delete ${name}?`, only.display_name);
  }
}
