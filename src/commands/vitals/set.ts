import * as Flags from "@oclif/core/flags";
import { hostVitalsApi } from "../../api/settings/variables.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { dryRunFlag } from "../../cli/flags.ts";
import { vitalArg, vitalNamed } from "../../cli/topics/variables.ts";
import { printable } from "../../text/printable.ts";

export default class VitalsSet extends ClientCommand {
  static override summary = "Set a host's value of a custom host vital.";
  static override endpoints = [hostVitalsApi.setValue];
  static override args = { vital: vitalArg };
  static override flags = {
    host: Flags.string({
      summary: "Id, hostname, uuid or serial number of the host.",
      helpValue: "HOST",
      required: true,
    }),
    value: Flags.string({ summary: "The value; an empty one removes it.", required: true }),
    ...dryRunFlag,
  };
  static override examples = ["<%= config.bin %> <%= command.id %> Site --host mac-1.example.com --value Berlin"];

  async run() {
    const { args, flags } = await this.parse(VitalsSet);
    const { custom_host_vitals: all } = await this.call(hostVitalsApi.list);
    const { id: vital_id, name } = vitalNamed(all, args.vital);
    const host = await this.host(flags.host);
    const what = `${printable(name)} of ${printable(host.display_name)}`;
    const about = { host_id: host.id, vital_id, value: flags.value };
    if (flags["dry-run"]) this.trying(`set ${what}`, about);
    await this.call(hostVitalsApi.setValue, { params: { id: host.id, vital_id }, body: { value: flags.value } });
    await this.report(`set ${what}`, about);
  }
}
