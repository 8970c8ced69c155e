import * as Flags from "@oclif/core/flags";
import { Team, teamsApi } from "../../api/teams.ts";
import { changesOf } from "../../cli/base-command.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { usage } from "../../cli/errors.ts";
import { args, dryRunFlag, inputFlag } from "../../cli/flags.ts";
import { readBody } from "../../cli/input.ts";
import { teamFields, teamFlags } from "../../cli/team-view.ts";

export default class TeamsUpdate extends ClientCommand {
  static override summary = "Change a team.";
  static override endpoints = [teamsApi.modify];
  static override args = { team: args.team };
  static override flags = {
    name: Flags.string({ summary: "New name." }),
    ...teamFlags,
    ...inputFlag,
    ...dryRunFlag,
  };
  static override examples = ["<%= config.bin %> <%= command.id %> Workstations --description 'On desks'"];

  async run() {
    const { args: given, flags } = await this.parse(TeamsUpdate);
    const body: Record<string, unknown> = {
      ...(await readBody(this.io, flags.input)),
      ...(flags.name === undefined ? {} : { name: flags.name }),
      ...teamFields(flags),
    };
    if (Object.keys(body).length === 0)
      throw usage("nothing to change", "Give the fields to change by flags or --input.");
    const before = await this.team(given.team);
    if (flags["dry-run"]) {
      this.validate(teamsApi.modify, body);
      return this.printPlan(
        `change team ${before.name}`,
        { id: before.id, name: before.name },
        changesOf(before, body),
      );
    }
    const { team } = await this.call(teamsApi.modify, { params: { id: before.id }, body });
    await this.report(`changed team ${team.name}`, team, { schema: Team });
  }
}
