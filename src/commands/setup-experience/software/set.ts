import * as Flags from "@oclif/core/flags";
import { setupExperienceApi } from "../../../api/delivery/setup-experience.ts";
import { setupPlatforms } from "../../../api/setup-platforms.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { usage } from "../../../cli/errors.ts";
import { dryRunFlag, listOf, ofTeam, teamFlag } from "../../../cli/flags.ts";
import { plural } from "../../../text/plural.ts";

export default class SetupExperienceSoftwareSet extends ClientCommand {
  static override summary = "Set what the hosts of a team install during their setup, in the order given.";
  static override description =
    'Everything else is no longer installed during the setup; --titles "" unsets all. `svc setup-experience software ' +
    "list` shows the ids of the titles.";
  static override endpoints = [setupExperienceApi.setSoftware];
  static override flags = {
    titles: Flags.string({ summary: "Ids of software titles.", helpValue: "ID[,ID...]", required: true }),
    platform: Flags.option({
      summary: "Platform of the hosts.",
      options: ["macos", ...setupPlatforms] as const,
      default: "macos",
    })(),
    ...teamFlag,
    ...dryRunFlag,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> --titles 1 --team Workstations",
    '<%= config.bin %> <%= command.id %> --titles "" --platform linux',
  ];

  async run() {
    const { flags } = await this.parse(SetupExperienceSoftwareSet);
    const titles = listOf([flags.titles]);
    if (!titles.every((text) => /^\d{1,15}$/.test(text))) throw usage("--titles needs ids of software titles");
    const body = {
      ...(await this.teamFilter(flags.team)),
      platform: flags.platform,
      software_title_ids: titles.map(Number),
    };
    const of = ofTeam(flags.team);
    const what = `${plural(titles.length, "title")} during the setup of ${flags.platform} hosts of ${of}`;
    if (flags["dry-run"]) this.trying(`install ${what}`, body);
    await this.call(setupExperienceApi.setSoftware, { body });
    await this.report(`installing ${what}`, body);
  }
}
