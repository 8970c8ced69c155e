import * as Flags from "@oclif/core/flags";
import { CustomHostVital, hostVitalsApi } from "../../api/settings/variables.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { readBody } from "../../cli/files/input.ts";
import { dryRunFlag, inputFlag } from "../../cli/flags.ts";
import { printable } from "../../text/printable.ts";

export default class VitalsCreate extends ClientCommand {
  static override summary = "Define a custom host vital, which each host can have a value of.";
  static override description = "Scripts and profiles name it as $SVC_HOST_VITAL_ID, with the id that it gets.";
  static override endpoints = [hostVitalsApi.create];
  static override flags = { name: Flags.string({ summary: "Name." }), ...inputFlag, ...dryRunFlag };
  static override examples = ["<%= config.bin %> <%= command.id %> --name Site"];

  async run() {
    const { flags } = await this.parse(VitalsCreate);
    const input = await readBody(this.io, flags.input);
    const name = flags.name ?? input.name ?? (await this.askText("Name", "--name"));
    if (flags["dry-run"]) this.trying(`create the custom host vital ${printable(String(name))}`, { name });
    const body = { ...input, name: name as string };
    const { custom_host_vital: created } = await this.call(hostVitalsApi.create, { body });
    await this.report(`created the custom host vital ${printable(created.name)} (${created.id})`, created, {
      schema: () => CustomHostVital,
    });
  }
}
