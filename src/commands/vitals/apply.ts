import * as Flags from "@oclif/core/flags";
import { hostVitalsApi } from "../../api/settings/variables.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { dryRunFlag, yesFlag } from "../../cli/flags.ts";
import { plural } from "../../text/plural.ts";

export default class VitalsApply extends ClientCommand {
  static override summary = "Replace the definitions of all custom host vitals; those that are not named are deleted.";
  static override description = "Those that keep their name, whatever its case, keep their id and the values of hosts.";
  static override destructive = true;
  static override endpoints = [hostVitalsApi.apply];
  static override flags = {
    name: Flags.string({ summary: "Name of a vital; repeatable.", multiple: true, required: true }),
    ...yesFlag,
    ...dryRunFlag,
  };
  static override examples = ["<%= config.bin %> <%= command.id %> --name Site --name Rack --yes"];

  async run() {
    const { flags } = await this.parse(VitalsApply);
    const names = flags.name;
    if (flags["dry-run"]) this.trying("replace the custom host vitals", { names });
    await this.confirm("Replace the definitions of all custom host vitals?");
    const body = { custom_host_vitals: names.map((name) => ({ name })) };
    await this.call(hostVitalsApi.apply, { body });
    await this.report(`defined ${plural(names.length, "custom host vital")}`, { names });
  }
}
