import * as Flags from "@oclif/core/flags";
import { NoTeam, Team, teamsApi } from "../../api/settings/teams.ts";
import { changesOf } from "../../cli/base-command.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { usage } from "../../cli/errors.ts";
import { readBody } from "../../cli/files/input.ts";
import { args, dryRunFlag, inputFlag, isNoTeam } from "../../cli/flags.ts";
import { teamFields, teamFlags } from "../../cli/topics/teams.ts";

export default class TeamsUpdate extends ClientCommand {
  static override summary = "Change a team; 0 stands for hosts without a team. Give other settings with --input.";
  static override endpoints = [teamsApi.modify, teamsApi.modifyNoTeam];
  static override args = { team: args.team };
  static override flags = {
    name: Flags.string({ summary: "New name." }),
    ...teamFlags,
    ...inputFlag,
    ...dryRunFlag,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> Workstations --description 'On desks'",
    "<%= config.bin %> <%= command.id %> 0 --input no-team.yml",
    "<%= config.bin %> <%= command.id %> Workstations --host-activities-webhook https://hooks.example.com/svc",
  ];

  async run() {
    const { args, flags } = await this.parse(TeamsUpdate);
    const body: Record<string, unknown> = {
      ...(await readBody(this.io, flags.input)),
      ...(flags.name === undefined ? {} : { name: flags.name }),
      ...teamFields(flags),
    };
    if (Object.keys(body).length === 0)
      throw usage("nothing to change", "Give the fields to change by flags or --input.");
    if (isNoTeam(args.team)) return this.#updateNoTeam(body, flags["dry-run"]);
    const before = await this.team(args.team);
    if (flags["dry-run"]) {
      this.trying(`change team ${before.name}`, { id: before.id, name: before.name }, changesOf(before, body));
    }
    const { team } = await this.call(teamsApi.modify, { params: { id: before.id }, body });
    await this.report(`changed team ${team.name}`, team, { schema: () => Team });
  }

  async #updateNoTeam(body: Record<string, unknown>, dryRun: boolean): Promise<void> {
    const other = Object.keys(body).filter((key) => !["webhook_settings", "integrations"].includes(key));
    if (other.length > 0) throw usage(`hosts without a team do not have ${other.join(", ")}`);
    if (dryRun) {
      const { team } = await this.call(teamsApi.noTeam);
      this.trying("change the settings of hosts without a team", { id: 0 }, changesOf(team, body));
    }
    const { team } = await this.call(teamsApi.modifyNoTeam, { body });
    await this.report("changed the settings of hosts without a team", team, { schema: () => NoTeam });
  }
}
