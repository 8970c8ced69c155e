import * as Flags from "@oclif/core/flags";
import { hostsApi } from "../../api/hosts.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { connectionFlags, generalFlags, teamFlag } from "../../cli/flags.ts";
import { queryFlags, queryOf } from "../../cli/query-flags.ts";
import { plural, printable } from "../../cli/text.ts";
import { toWholeFile } from "../../cli/whole-file.ts";

export default class HostsReport extends ClientCommand {
  static override summary = "Export hosts as CSV.";
  static override description =
    "The file comes whole or not at all: a report that breaks off leaves nothing behind. In cells that a spreadsheet would take for formulas " +
    "an apostrophe comes first.";
  static override endpoints = [hostsApi.report];
  // -o is the file to write, and its format is given.
  static override baseFlags = { ...generalFlags, ...connectionFlags };
  static override flags = {
    out: Flags.string({
      char: "o",
      summary: "File to write; - is stdout, the default.",
      helpValue: "FILE",
      default: "-",
    }),
    ...queryFlags(hostsApi.report, ["format"]),
    ...teamFlag,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> --columns hostname,os_version,primary_ip --order-key hostname",
    "<%= config.bin %> <%= command.id %> --where 'platform = darwin' -o -",
  ];

  async run() {
    const { flags } = await this.parse(HostsReport);
    const { out } = flags as { out: string };
    const team = await this.teamFilter(flags.team as string | undefined);
    const query = queryOf(hostsApi.report, flags, { format: "csv", ...team });
    await this.requireToken();
    const client = await this.client();
    const { body } = await client.open(hostsApi.report, { query }, { signal: this.stop.signal });
    if (out === "-") {
      for await (const bytes of body) await this.write(bytes);
      return;
    }
    const size = await toWholeFile(out, body);
    this.note(`${plural(size, "byte")} in ${printable(out)}`);
  }

  readonly #decoder = new TextDecoder();

  private async write(bytes: Uint8Array): Promise<void> {
    if (this.io.outBytes) await this.io.outBytes(bytes);
    else this.io.out(this.#decoder.decode(bytes, { stream: true }));
  }
}
