import { hostVitalsApi } from "../../api/settings/variables.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { dryRunFlag, yesFlag } from "../../cli/flags.ts";
import { vitalArg, vitalNamed } from "../../cli/topics/variables.ts";
import { printable } from "../../text/printable.ts";

export default class VitalsDelete extends ClientCommand {
  static override summary = "Delete a custom host vital that nothing uses, with its values on all hosts.";
  static override destructive = true;
  static override endpoints = [hostVitalsApi.delete];
  static override args = { vital: vitalArg };
  static override flags = { ...yesFlag, ...dryRunFlag };
  static override examples = ["<%= config.bin %> <%= command.id %> Site --yes"];

  async run() {
    const { args, flags } = await this.parse(VitalsDelete);
    const { custom_host_vitals: all } = await this.call(hostVitalsApi.list);
    const { id, name } = vitalNamed(all, args.vital);
    const what = `the custom host vital ${printable(name)}`;
    if (flags["dry-run"]) this.trying(`delete ${what}`, { id, name });
    await this.confirm(`Delete ${what}, with its values on all hosts?`);
    await this.call(hostVitalsApi.delete, { params: { id } });
    await this.report(`deleted ${what}`, { id, name });
  }
}
