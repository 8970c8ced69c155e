import * as Flags from "@oclif/core/flags";
import { VppToken, vppApi } from "../../../api/delivery/vpp.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { usage } from "../../../cli/errors.ts";
import { args, dryRunFlag, isNoTeam } from "../../../cli/flags.ts";

export default class MdmVppTeams extends ClientCommand {
  static override summary = "Set the teams whose store apps a token licenses.";
  static override description = "Teams that the token no longer licenses no longer offer its apps.";
  static override endpoints = [vppApi.teams];
  static override args = { token: args.required("id of the token") };
  static override flags = {
    team: Flags.string({
      summary: "Team; 0: hosts without a team. Can be repeated.",
      helpValue: "TEAM",
      multiple: true,
    }),
    "all-teams": Flags.boolean({
      summary: "All teams, and hosts without a team.",
      exclusive: ["team", "without-teams"],
    }),
    "without-teams": Flags.boolean({ summary: "No teams.", exclusive: ["team", "all-teams"] }),
    ...dryRunFlag,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> 1 --team Workstations --team 0",
    "<%= config.bin %> <%= command.id %> 1 --all-teams",
  ];

  async run() {
    const { args, flags } = await this.parse(MdmVppTeams);
    if (!flags.team && !flags["all-teams"] && !flags["without-teams"])
      throw usage("no team is given", "Give --team, or one of --all-teams and --without-teams.");
    const ids: number[] = [];
    for (const name of flags.team ?? []) ids.push(isNoTeam(name) ? 0 : (await this.team(name)).id);
    const body = flags["all-teams"] ? {} : { team_ids: ids };
    if (flags["dry-run"]) this.trying(`set the teams of token ${args.token}`, { id: args.token, ...body });
    const { vpp_token: changed } = await this.call(vppApi.teams, { params: { id: args.token }, body });
    await this.report(`set the teams of token ${changed.id}`, changed, { schema: () => VppToken });
  }
}
