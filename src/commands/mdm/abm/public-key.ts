import * as Flags from "@oclif/core/flags";
import { abmApi } from "../../../api/devices/abm.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { writeText } from "../../../cli/files/write-text.ts";
import { connectionFlags, generalFlags } from "../../../cli/flags.ts";

export default class MdmAbmPublicKey extends ClientCommand {
  static override summary = "Download the public key to upload to the business portal.";
  static override endpoints = [abmApi.publicKey];
  static override enableJsonFlag = false;
  static override baseFlags = { ...generalFlags, ...connectionFlags };
  static override flags = {
    out: Flags.string({ char: "o", summary: "File to write; - is stdout.", default: "-", helpValue: "FILE" }),
  };
  static override examples = ["<%= config.bin %> <%= command.id %> --out svc-portal.pem"];

  async run() {
    const { flags } = await this.parse(MdmAbmPublicKey);
    const { public_key: key } = await this.call(abmApi.publicKey);
    const pem = Buffer.from(key, "base64").toString("utf8");
    if (await writeText(this.io, flags.out, pem.endsWith("\n") ? pem : `${pem}\n`)) this.note(`wrote ${flags.out}`);
  }
}
