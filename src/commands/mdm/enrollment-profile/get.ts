import * as Flags from "@oclif/core/flags";
import { SetupAssistant, setupAssistantsApi } from "../../../api/devices/setup-assistants.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { teamFlag } from "../../../cli/flags.ts";

export default class MdmEnrollmentProfileGet extends ClientCommand {
  static override summary = "Show the setup assistant profile of a team, or that for hosts without one.";
  static override endpoints = [setupAssistantsApi.get, setupAssistantsApi.getDefault];
  static override flags = {
    ...teamFlag,
    default: Flags.boolean({ summary: "That of teams without one of their own.", exclusive: ["team"] }),
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> --team Workstations -o json",
    "<%= config.bin %> <%= command.id %> --default",
  ];

  async run() {
    const { flags } = await this.parse(MdmEnrollmentProfileGet);
    if (flags.default) return this.printOne(await this.call(setupAssistantsApi.getDefault));
    const query = await this.teamFilter(flags.team);
    await this.printOne(await this.call(setupAssistantsApi.get, { query }), { schema: () => SetupAssistant });
  }
}
