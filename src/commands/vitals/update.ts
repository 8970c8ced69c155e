import * as Flags from "@oclif/core/flags";
import { CustomHostVital, hostVitalsApi } from "../../api/settings/variables.ts";
import { changesOf } from "../../cli/base-command.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { usage } from "../../cli/errors.ts";
import { readBody } from "../../cli/files/input.ts";
import { dryRunFlag, inputFlag } from "../../cli/flags.ts";
import { vitalArg, vitalNamed } from "../../cli/topics/variables.ts";
import { printable } from "../../text/printable.ts";

export default class VitalsUpdate extends ClientCommand {
  static override summary = "Rename a custom host vital. Its id stays, and with it all uses.";
  static override endpoints = [hostVitalsApi.modify];
  static override args = { vital: vitalArg };
  static override flags = { name: Flags.string({ summary: "New name." }), ...inputFlag, ...dryRunFlag };
  static override examples = ["<%= config.bin %> <%= command.id %> Site --name Location"];

  async run() {
    const { args, flags } = await this.parse(VitalsUpdate);
    const body = {
      ...(await readBody(this.io, flags.input)),
      ...(flags.name === undefined ? {} : { name: flags.name }),
    };
    if (Object.keys(body).length === 0) throw usage("nothing to change", "Give the new name by --name or --input.");
    const { custom_host_vitals: all } = await this.call(hostVitalsApi.list);
    const before = vitalNamed(all, args.vital);
    const { id } = before;
    if (flags["dry-run"])
      this.trying(`rename the custom host vital ${printable(before.name)}`, { id }, changesOf(before, body));
    const change = body as { name: string };
    const { custom_host_vital: after } = await this.call(hostVitalsApi.modify, { params: { id }, body: change });
    await this.report(`${printable(before.name)} is now ${printable(after.name)}`, after, {
      schema: () => CustomHostVital,
    });
  }
}
