import { appleTrustApi } from "../../../api/devices/apple-trust.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { dryRunFlag, yesFlag } from "../../../cli/flags.ts";

export default class MdmAppleDelete extends ClientCommand {
  static override summary = "Delete the push certificate, which turns device management of Apple devices off.";
  static override description =
    "Devices stay enrolled, and can be managed again only when a certificate with the same topic is uploaded. It can be downloaded from https://identity.apple.com, but its key cannot.";
  static override destructive = true;
  static override endpoints = [appleTrustApi.delete];
  static override flags = { ...yesFlag, ...dryRunFlag };
  static override examples = ["<%= config.bin %> <%= command.id %> --yes"];

  async run() {
    const { flags } = await this.parse(MdmAppleDelete);
    const what = "the push certificate, and turn device management of Apple devices off";
    if (flags["dry-run"]) this.trying(`delete ${what}`, {});
    await this.confirm(`Delete ${what}?`);
    await this.call(appleTrustApi.delete);
    await this.report("deleted the push certificate", { deleted: true });
  }
}
