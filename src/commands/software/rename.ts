import * as Flags from "@oclif/core/flags";
import { softwareApi } from "../../api/software/software.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { dryRunFlag } from "../../cli/flags.ts";
import { titleArg, titleNamed } from "../../cli/topics/software/titles.ts";
import { printable } from "../../text/printable.ts";

export default class SoftwareRename extends ClientCommand {
  static override summary = "Change the name of a software title that has a bundle identifier.";
  static override endpoints = [softwareApi.rename];
  static override args = { title: titleArg };
  static override flags = {
    name: Flags.string({ summary: "New name.", required: true }),
    ...dryRunFlag,
  };
  static override examples = ["<%= config.bin %> <%= command.id %> 1 --name Editor"];

  async run() {
    const { args, flags } = await this.parse(SoftwareRename);
    const { name } = flags;
    const id = await titleNamed(await this.client(), args.title);
    const what = `software title ${printable(args.title)} to ${printable(name)}`;
    if (flags["dry-run"]) this.trying(`rename ${what}`, { name });
    await this.call(softwareApi.rename, { params: { id }, body: { name } });
    await this.report(`renamed ${what}`, { id, name });
  }
}
