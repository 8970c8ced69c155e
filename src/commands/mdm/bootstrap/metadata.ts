import { BootstrapPackage, bootstrapApi } from "../../../api/devices/bootstrap.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { teamFlag } from "../../../cli/flags.ts";

export default class MdmBootstrapMetadata extends ClientCommand {
  static override summary = "Show the bootstrap package of a team, or of hosts without one.";
  static override endpoints = [bootstrapApi.metadata];
  static override flags = teamFlag;
  static override examples = ["<%= config.bin %> <%= command.id %> --team Workstations"];

  async run() {
    const { flags } = await this.parse(MdmBootstrapMetadata);
    const { team_id = 0 } = await this.teamFilter(flags.team);
    await this.printOne(await this.call(bootstrapApi.metadata, { params: { team_id } }), {
      schema: () => BootstrapPackage,
    });
  }
}
