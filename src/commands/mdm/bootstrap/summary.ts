import { BootstrapSummary, bootstrapApi } from "../../../api/devices/bootstrap.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { teamFlag } from "../../../cli/flags.ts";

export default class MdmBootstrapSummary extends ClientCommand {
  static override summary = "Count the hosts of a team by the status of their bootstrap package.";
  static override endpoints = [bootstrapApi.summary];
  static override flags = teamFlag;
  static override examples = ["<%= config.bin %> <%= command.id %> --team Workstations"];

  async run() {
    const { flags } = await this.parse(MdmBootstrapSummary);
    const counts = await this.call(bootstrapApi.summary, { query: await this.teamFilter(flags.team) });
    await this.printOne(counts, { schema: () => BootstrapSummary });
  }
}
