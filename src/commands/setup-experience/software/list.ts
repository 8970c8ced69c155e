import { SetupTitle, setupExperienceApi } from "../../../api/delivery/setup-experience.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { limitFlags, teamFlag } from "../../../cli/flags.ts";
import type { View } from "../../../cli/output/output.ts";
import { queryFlags, queryOf } from "../../../cli/query-flags.ts";

const view: View = {
  schema: () => SetupTitle,
  columns: [
    { key: "id" },
    { key: "name" },
    { key: "source" },
    { key: "software_package.install_during_setup", header: "package in setup" },
    { key: "app_store_app.install_during_setup", header: "app in setup" },
  ],
};

export default class SetupExperienceSoftwareList extends ClientCommand {
  static override summary = "List the software that hosts of a team can install during their setup.";
  static override description = "What they do install comes first, in the order in which they install it.";
  static override endpoints = [setupExperienceApi.software];
  static override flags = { ...queryFlags(setupExperienceApi.software), ...teamFlag, ...limitFlags };
  static override examples = [
    "<%= config.bin %> <%= command.id %> --team Workstations",
    "<%= config.bin %> <%= command.id %> --platform windows,linux",
  ];

  async run() {
    const { flags } = await this.parse(SetupExperienceSoftwareList);
    const query = queryOf(setupExperienceApi.software, flags, await this.teamFilter(flags.team));
    await this.printList(this.pages(setupExperienceApi.software, { query }, "software_titles"), view);
  }
}
