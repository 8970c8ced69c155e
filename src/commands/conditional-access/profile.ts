import * as Flags from "@oclif/core/flags";
import { conditionalAccessApi } from "../../api/automations/conditional-access.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { saveBytes } from "../../cli/files/whole-file.ts";
import { connectionFlags, generalFlags } from "../../cli/flags.ts";
import { plural } from "../../text/plural.ts";
import { printable } from "../../text/printable.ts";

export default class ConditionalAccessProfile extends ClientCommand {
  static override summary = "Download the profile with which Macs get their certificate for conditional access.";
  static override description =
    "Add it to a team with `svc mdm profiles add`. It contains a global enroll secret: keep the file as safe as that.";
  static override endpoints = [conditionalAccessApi.profile];
  // -o is the output file; nothing else is printed.
  static override baseFlags = { ...generalFlags, ...connectionFlags };
  static override flags = {
    out: Flags.string({
      char: "o",
      summary: "File to write; - is stdout.",
      default: "conditional-access.mobileconfig",
      helpValue: "FILE",
    }),
  };
  static override examples = ["<%= config.bin %> <%= command.id %>", "<%= config.bin %> <%= command.id %> -o -"];

  async run() {
    const { flags } = await this.parse(ConditionalAccessProfile);
    const client = await this.client();
    const { body } = await client.open(conditionalAccessApi.profile, {});
    const size = await saveBytes(this.io, flags.out, body);
    if (flags.out !== "-")
      await this.report(`${plural(size, "byte")} in ${printable(flags.out)}`, { file: flags.out, size });
  }
}
