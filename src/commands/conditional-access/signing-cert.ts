import * as Flags from "@oclif/core/flags";
import { conditionalAccessApi } from "../../api/automations/conditional-access.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { saveBytes } from "../../cli/files/whole-file.ts";
import { connectionFlags, generalFlags } from "../../cli/flags.ts";
import { plural } from "../../text/plural.ts";
import { printable } from "../../text/printable.ts";

export default class ConditionalAccessSigningCert extends ClientCommand {
  static override summary = "Download the certificate with which the server signs as an identity provider.";
  static override endpoints = [conditionalAccessApi.signingCert];
  // -o is the output file; nothing else is printed.
  static override baseFlags = { ...generalFlags, ...connectionFlags };
  static override flags = {
    out: Flags.string({ char: "o", summary: "File to write; - is stdout.", default: "-", helpValue: "FILE" }),
  };
  static override examples = ["<%= config.bin %> <%= command.id %> --out signing.pem"];

  async run() {
    const { flags } = await this.parse(ConditionalAccessSigningCert);
    const client = await this.client();
    const { body } = await client.open(conditionalAccessApi.signingCert, {});
    const size = await saveBytes(this.io, flags.out, body);
    if (flags.out !== "-")
      await this.report(`${plural(size, "byte")} in ${printable(flags.out)}`, { file: flags.out, size });
  }
}
