import * as Flags from "@oclif/core/flags";
import { abmApi } from "../../api/devices/abm.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { CliError, usage } from "../../cli/errors.ts";
import { args, dryRunFlag } from "../../cli/flags.ts";
import { namedHosts } from "../../cli/topics/hosts/choice.ts";
import { printable } from "../../text/printable.ts";

export default class HostsRelease extends ClientCommand {
  static override summary = "Release devices from the organization in the business portal. This cannot be undone.";
  static override destructive = true;
  static override description =
    "For one host, you must type its name, for several their number, or give it with --confirm. Exit code 6: some " +
    "could not be released.";
  static override endpoints = [abmApi.release];
  static override strict = false;
  static override args = { hosts: args.hosts };
  static override flags = {
    confirm: Flags.string({ summary: "Name of the host, or number of hosts.", helpValue: "NAME|COUNT" }),
    ...dryRunFlag,
  };
  static override examples = ["<%= config.bin %> <%= command.id %> mac-1.example.com --confirm mac-1.example.com"];

  async run() {
    const { argv, flags } = await this.parse(HostsRelease);
    if (argv.length === 0) throw usage("no hosts are given", "Name them, by id, hostname, uuid or serial number.");
    const hosts = await namedHosts(this, argv.map(String));
    const [only] = hosts;
    const isOne = hosts.length === 1 && only !== undefined;
    const what = isOne ? printable(only.display_name) : `${hosts.length} hosts`;
    if (flags["dry-run"]) this.trying(`release ${what} from the organization`, hosts);
    await this.confirmTyped(
      `Release ${what} from the organization for good?`,
      isOne ? only.display_name : String(hosts.length),
    );
    const { results } = await this.call(abmApi.release, { body: { ids: hosts.map(({ id }) => id) } });
    await this.printList(results, {
      columns: [{ key: "host_id", header: "host" }, { key: "status" }, { key: "error" }],
    });
    if (results.some(({ status }) => status === "failed"))
      throw new CliError("partial", "some hosts were not released");
  }
}
