import * as Flags from "@oclif/core/flags";
import { AbmToken, abmApi } from "../../../api/devices/abm.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { usage } from "../../../cli/errors.ts";
import { uploadSource } from "../../../cli/files/upload.ts";
import { dryRunFlag } from "../../../cli/flags.ts";

export default class MdmAbmAdd extends ClientCommand {
  static override summary = "Add a token that was downloaded from the business portal.";
  static override description =
    "The portal encrypts the token to the key of `svc mdm abm public-key`, which has to be uploaded there first. The " +
    "server checks the token with the portal before it is stored.";
  static override endpoints = [abmApi.add];
  static override flags = {
    file: Flags.string({ char: "f", summary: "File with the token (.p7m); - is stdin.", helpValue: "FILE" }),
    ...dryRunFlag,
  };
  static override examples = ["<%= config.bin %> <%= command.id %> --file token.p7m"];

  async run() {
    const { flags } = await this.parse(MdmAbmAdd);
    if (flags.file === undefined) throw usage("no file is given", "Give it with --file.");
    const token = await uploadSource(this.io, flags.file, "--file");
    if (flags["dry-run"]) this.trying("add a token of the business portal", { file: flags.file });
    const { abm_token: added } = await this.call(abmApi.add, { body: { token } });
    await this.report(`added token ${added.id} of ${added.org_name}`, added, { schema: () => AbmToken });
  }
}
