import * as Flags from "@oclif/core/flags";
import { VppToken, vppApi } from "../../../api/delivery/vpp.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { usage } from "../../../cli/errors.ts";
import { uploadSource } from "../../../cli/files/upload.ts";
import { args, dryRunFlag } from "../../../cli/flags.ts";

export default class MdmVppRenew extends ClientCommand {
  static override summary = "Replace a token of the license program with a newer one for the same location.";
  static override endpoints = [vppApi.renew];
  static override args = { token: args.required("id of the token") };
  static override flags = {
    file: Flags.string({ char: "f", summary: "File with the new token (.vpptoken); - is stdin.", helpValue: "FILE" }),
    ...dryRunFlag,
  };
  static override examples = ["<%= config.bin %> <%= command.id %> 1 --file main-street.vpptoken"];

  async run() {
    const { args, flags } = await this.parse(MdmVppRenew);
    if (flags.file === undefined) throw usage("no file is given", "Give it with --file.");
    const token = await uploadSource(this.io, flags.file, "--file");
    if (flags["dry-run"]) this.trying(`renew token ${args.token}`, { id: args.token, file: flags.file });
    const { vpp_token: renewed } = await this.call(vppApi.renew, { params: { id: args.token }, body: { token } });
    await this.report(`renewed token ${renewed.id} of ${renewed.location}`, renewed, { schema: () => VppToken });
  }
}
