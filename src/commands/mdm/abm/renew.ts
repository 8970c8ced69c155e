import * as Flags from "@oclif/core/flags";
import { AbmToken, abmApi } from "../../../api/devices/abm.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { usage } from "../../../cli/errors.ts";
import { uploadSource } from "../../../cli/files/upload.ts";
import { args, dryRunFlag } from "../../../cli/flags.ts";

export default class MdmAbmRenew extends ClientCommand {
  static override summary = "Replace a token with a newer one for the same server in the business portal.";
  static override endpoints = [abmApi.renew];
  static override args = { token: args.required("id of the token") };
  static override flags = {
    file: Flags.string({ char: "f", summary: "File with the new token (.p7m); - is stdin.", helpValue: "FILE" }),
    ...dryRunFlag,
  };
  static override examples = ["<%= config.bin %> <%= command.id %> 1 --file token.p7m"];

  async run() {
    const { args, flags } = await this.parse(MdmAbmRenew);
    if (flags.file === undefined) throw usage("no file is given", "Give it with --file.");
    const token = await uploadSource(this.io, flags.file, "--file");
    if (flags["dry-run"]) this.trying(`renew token ${args.token}`, { id: args.token, file: flags.file });
    const { abm_token: renewed } = await this.call(abmApi.renew, { params: { id: args.token }, body: { token } });
    await this.report(`renewed token ${renewed.id} of ${renewed.org_name}`, renewed, { schema: () => AbmToken });
  }
}
