import * as Flags from "@oclif/core/flags";
import { packagesApi } from "../../../api/software/packages.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { args } from "../../../cli/flags.ts";

export default class SoftwarePackagesCheck extends ClientCommand {
  static override summary = "Check that packages with these SHA-256 digests are offered.";
  static override description = "Exits with 3 if one of them is missing.";
  static override endpoints = [packagesApi.hashes];
  static override args = { digests: args.required("SHA-256 digests in hex, separated by commas") };
  static override flags = { "team-name": Flags.string({ summary: "Only by this team.", helpValue: "NAME" }) };
  static override examples = [
    "<%= config.bin %> <%= command.id %> 092c79e8f80e559e404bcf660c48f3522b67aba9ff1484b0367e1a4ddef7431d",
  ];

  async run() {
    const { args, flags } = await this.parse(SoftwarePackagesCheck);
    const team_name = flags["team-name"];
    const query = { sha256: args.digests, ...(team_name === undefined ? {} : { team_name }) };
    await this.call(packagesApi.hashes, { query });
    await this.report("all of these packages are offered", { digests: args.digests, offered: true });
  }
}
