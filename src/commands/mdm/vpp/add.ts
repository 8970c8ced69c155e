import * as Flags from "@oclif/core/flags";
import { VppToken, vppApi } from "../../../api/delivery/vpp.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { usage } from "../../../cli/errors.ts";
import { uploadSource } from "../../../cli/files/upload.ts";
import { dryRunFlag } from "../../../cli/flags.ts";

export default class MdmVppAdd extends ClientCommand {
  static override summary = "Add a token of the license program, so that teams can offer store apps.";
  static override description =
    "The token of a location is downloaded from the business portal. The server checks it with the license service " +
    "before it is stored. `svc mdm vpp teams` sets whose apps it licenses.";
  static override endpoints = [vppApi.add];
  static override flags = {
    file: Flags.string({ char: "f", summary: "File with the token (.vpptoken); - is stdin.", helpValue: "FILE" }),
    ...dryRunFlag,
  };
  static override examples = ["<%= config.bin %> <%= command.id %> --file main-street.vpptoken"];

  async run() {
    const { flags } = await this.parse(MdmVppAdd);
    if (flags.file === undefined) throw usage("no file is given", "Give it with --file.");
    const token = await uploadSource(this.io, flags.file, "--file");
    if (flags["dry-run"]) this.trying("add a token of the license program", { file: flags.file });
    const { vpp_token: added } = await this.call(vppApi.add, { body: { token } });
    await this.report(`added token ${added.id} of ${added.location}`, added, { schema: () => VppToken });
  }
}
