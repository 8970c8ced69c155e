import * as Flags from "@oclif/core/flags";
import { type Host, hostStatuses, hostsApi } from "../../api/hosts.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { notFound, usage } from "../../cli/errors.ts";
import { args, dryRunFlag, teamFlag, yesFlag } from "../../cli/flags.ts";
import { plural, printable } from "../../cli/text.ts";

type Picked = Pick<Host, "id" | "display_name">;

export default class HostsDelete extends ClientCommand {
  static override summary = "Delete hosts; they may enroll again.";
  static override description =
    "Hosts are named, or picked by filters. One host asks y or N. Several ask to type their number, or take --confirm " +
    "NUMBER; --yes is not enough for them. A choice that holds every host needs --all-hosts.";
  static override endpoints = [hostsApi.delete, hostsApi.deleteMany];
  static override strict = false;
  static override args = { hosts: args.hosts };
  static override flags = {
    query: Flags.string({ summary: "Hosts that this search finds." }),
    status: Flags.option({ options: hostStatuses })({ summary: "Hosts with this status." }),
    "label-id": Flags.integer({ summary: "Hosts with this label.", min: 1 }),
    ...teamFlag,
    "all-hosts": Flags.boolean({ summary: "Say outright that every host is meant." }),
    confirm: Flags.string({ summary: "Name of the host, or number of hosts, that will be deleted." }),
    ...yesFlag,
    ...dryRunFlag,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> mac-1.example.com --yes",
    "<%= config.bin %> <%= command.id %> mac-1.example.com linux-1.example.com --confirm 2",
    "<%= config.bin %> <%= command.id %> --status offline --confirm 2 --dry-run",
  ];

  async run() {
    const { argv, flags } = await this.parse(HostsDelete);
    const names = argv.map(String);
    const filters = {
      query: flags.query,
      status: flags.status,
      label_id: flags["label-id"],
      ...(await this.teamFilter(flags.team)),
    };
    const filtered = Object.values(filters).some((value) => value !== undefined);
    if (names.length > 0 && (filtered || flags["all-hosts"]))
      throw usage("name hosts, or pick them by filters, not both");
    if (names.length === 0 && !filtered && !flags["all-hosts"]) {
      throw usage("which hosts?", "Name them, pick them by filters, or say --all-hosts.");
    }

    const hosts = names.length > 0 ? await this.named(names) : await this.picked(filters);
    if (hosts.length === 0) throw notFound("no host matches");
    const { count } = hosts.length > 1 ? await this.call(hostsApi.count) : { count: 0 };
    if (hosts.length > 1 && hosts.length >= count && !flags["all-hosts"]) {
      throw usage(`these are all ${hosts.length} hosts that you can see`, "Add --all-hosts if that is meant.");
    }
    if (flags["dry-run"]) return this.printPlan(`delete ${plural(hosts.length, "host")}`, hosts);
    await this.ask(hosts, flags.confirm);

    const [only] = hosts;
    if (hosts.length === 1 && only) await this.call(hostsApi.delete, { params: { id: only.id } });
    // By ids, even where filters chose: what was confirmed is what goes.
    else await this.call(hostsApi.deleteMany, { body: { ids: hosts.map(({ id }) => id) } });
    const told = hosts.length === 1 && only ? printable(only.display_name) : plural(hosts.length, "host");
    await this.report(`deleted ${told}`, { deleted: hosts.length, hosts });
  }

  private async ask(hosts: readonly Picked[], confirm: string | undefined): Promise<void> {
    const [only] = hosts;
    if (hosts.length > 1 || !only) {
      for (const { display_name, id } of hosts.slice(0, 10)) this.note(`  ${printable(display_name)} (${id})`);
      if (hosts.length > 10) this.note(`  and ${hosts.length - 10} more`);
      return this.confirmTyped(`Delete ${hosts.length} hosts?`, String(hosts.length));
    }
    const name = printable(only.display_name);
    if (confirm === undefined) return this.confirm(`Delete ${name}?`);
    if (confirm !== "1") await this.confirmTyped(`Delete ${name}?`, only.display_name);
  }

  private async named(names: readonly string[]): Promise<Picked[]> {
    const hosts = new Map<number, Picked>();
    for (const name of names) {
      const { id, display_name } = await this.host(name);
      hosts.set(id, { id, display_name });
    }
    return [...hosts.values()];
  }

  private async picked(filters: Record<string, unknown>): Promise<Picked[]> {
    this.common.all = true;
    const rows = await this.rows(hostsApi.list, { query: filters }, "hosts");
    return rows.map(({ id, display_name }) => ({ id, display_name }));
  }
}
