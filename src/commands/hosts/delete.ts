import { hostsApi } from "../../api/hosts.ts";
import { args, dryRunFlag, yesFlag } from "../../cli/flags.ts";
import { choiceFlags, HostsCommand, type Picked } from "../../cli/hosts-command.ts";
import { plural, printable } from "../../cli/text.ts";

export default class HostsDelete extends HostsCommand {
  static override summary = "Delete hosts; they may enroll again.";
  static override description =
    "Hosts are named, or picked by filters. One host asks y or N. Several ask to type their number, or take --confirm " +
    "NUMBER; --yes is not enough for them. A choice that holds every host needs --all-hosts.";
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
    const filters = await this.filtersOr(names, flags);
    const hosts = filters === null ? await this.named(names) : await this.picked(filters);
    await this.checkChoice(hosts.length, flags["all-hosts"]);
    if (flags["dry-run"]) return this.printPlan(`delete ${plural(hosts.length, "host")}`, hosts);
    await this.ask(hosts, flags.confirm);

    const [only] = hosts;
    if (hosts.length === 1 && only) await this.call(hostsApi.delete, { params: { id: only.id } });
    // By ids, even where filters chose: what was confirmed is what goes.
    else await this.call(hostsApi.deleteMany, { body: { ids: hosts.map(({ id }) => id) } });
    await this.report(`deleted ${this.nameOf(hosts)}`, { deleted: hosts.length, hosts });
  }

  private async ask(hosts: readonly Picked[], confirm: string | undefined): Promise<void> {
    const [only] = hosts;
    if (hosts.length > 1 || !only) {
      this.tell(hosts, hosts.length);
      return this.confirmTyped(`Delete ${hosts.length} hosts?`, String(hosts.length));
    }
    const name = printable(only.display_name);
    if (confirm === undefined) return this.confirm(`Delete ${name}?`);
    if (confirm !== "1") await this.confirmTyped(`Delete ${name}?`, only.display_name);
  }
}
