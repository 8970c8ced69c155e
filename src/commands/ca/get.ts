import { caApi } from "../../api/certificates/ca.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args } from "../../cli/flags.ts";
import { findAuthority } from "../../cli/topics/ca.ts";

export default class CaGet extends ClientCommand {
  static override summary = "Show a certificate authority; its secret is masked.";
  static override endpoints = [caApi.get];
  static override args = { authority: args.required("name or id of the certificate authority") };
  static override examples = ["<%= config.bin %> <%= command.id %> WIFI"];

  async run() {
    const { args } = await this.parse(CaGet);
    const { id } = await findAuthority(this, args.authority);
    await this.printOne(await this.call(caApi.get, { params: { id } }));
  }
}
