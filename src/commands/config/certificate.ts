import { writeFile } from "node:fs/promises";
import * as Flags from "@oclif/core/flags";
import { appConfigApi } from "../../api/app-config.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { failed } from "../../cli/errors.ts";
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
    if (flags.out === "-") return this.io.out(pem.endsWith("\n") ? pem : `${pem}\n`);
    await writeFile(flags.out, pem).catch((error: unknown) => {
      throw failed(`${flags.out} cannot be written (${error instanceof Error ? error.message : ""})`);
    });
    this.note(`wrote ${flags.out}`);
  }
}
