import * as Flags from "@oclif/core/flags";
import { appConfigApi } from "../../api/settings/app-config.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { writeText } from "../../cli/files/write-text.ts";
import { connectionFlags, generalFlags } from "../../cli/flags.ts";

export default class ConfigCertificate extends ClientCommand {
  static override summary = "Download the certificate chain that agents have to trust.";
  static override endpoints = [appConfigApi.certificate];
  static override enableJsonFlag = false;
  static override baseFlags = { ...generalFlags, ...connectionFlags };
  static override flags = {
    out: Flags.string({ char: "o", summary: "File to write; - is stdout.", default: "-", helpValue: "FILE" }),
  };
  static override examples = ["<%= config.bin %> <%= command.id %> --out svc.pem"];

  async run() {
    const { flags } = await this.parse(ConfigCertificate);
    const { certificate_chain: pem } = await this.call(appConfigApi.certificate);
    if (await writeText(this.io, flags.out, pem.endsWith("\n") ? pem : `${pem}\n`)) this.note(`wrote ${flags.out}`);
  }
}
