import * as Flags from "@oclif/core/flags";
import { setupExperienceApi } from "../../../api/delivery/setup-experience.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { saveBytes } from "../../../cli/files/whole-file.ts";
import { connectionFlags, generalFlags, teamFlag } from "../../../cli/flags.ts";
import { plural } from "../../../text/plural.ts";
import { printable } from "../../../text/printable.ts";

export default class SetupExperienceScriptDownload extends ClientCommand {
  static override summary = "Download the script that the hosts of a team run at the end of their setup.";
  static override endpoints = [setupExperienceApi.script];
  // -o is the output file; nothing else is printed.
  static override baseFlags = { ...generalFlags, ...connectionFlags };
  static override flags = {
    ...teamFlag,
    out: Flags.string({ char: "o", summary: "File to write; - is stdout.", helpValue: "FILE", default: "-" }),
  };
  static override examples = ["<%= config.bin %> <%= command.id %> --team Workstations -o -"];

  async run() {
    const { flags } = await this.parse(SetupExperienceScriptDownload);
    const client = await this.client();
    const query = { ...(await this.teamFilter(flags.team)), alt: "media" } as const;
    const { body } = await client.open(setupExperienceApi.script, { query });
    const size = await saveBytes(this.io, flags.out, body);
    if (flags.out !== "-")
      await this.report(`${plural(size, "byte")} in ${printable(flags.out)}`, { file: flags.out, size });
  }
}
