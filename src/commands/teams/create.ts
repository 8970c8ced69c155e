import * as Flags from "@oclif/core/flags";
import { Team, teamsApi } from "../../api/settings/teams.ts";
import { changesOf } from "../../cli/base-command.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { readBody } from "../../cli/files/input.ts";
import { dryRunFlag, inputFlag } from "../../cli/flags.ts";
import { teamFields, teamFlags } from "../../cli/topics/teams.ts";

export default class TeamsCreate extends ClientCommand {
  static override summary = "Create a team.";
  static override endpoints = [teamsApi.create];
  static override flags = {
    name: Flags.string({ summary: "Name." }),
    ...teamFlags,
    ...inputFlag,
    ...dryRunFlag,
  };
  static override examples = ["<%= config.bin %> <%= command.id %> --name Servers --description 'Everything in racks'"];

  async run() {
    const { flags } = await this.parse(TeamsCreate);
    const input: Record<string, unknown> = {
      ...(await readBody(this.io, flags.input)),
      ...(flags.name === undefined ? {} : { name: flags.name }),
      ...teamFields(flags),
    };
    const name = typeof input.name === "string" ? input.name : await this.askText("Name", "--name");
    const body = { ...input, name };
    if (flags["dry-run"]) {
      this.trying(`create team ${name}`, null, changesOf({}, body));
    }
    const { team } = await this.call(teamsApi.create, { body });
    await this.report(`created team ${team.name} (${team.id})`, team, { schema: () => Team });
  }
}
