import * as Flags from "@oclif/core/flags";
import { Team, teamsApi } from "../../../api/settings/teams.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { args, dryRunFlag, listOf, yesFlag } from "../../../cli/flags.ts";

export default class TeamsUsersRemove extends ClientCommand {
  static override summary = "Remove users from a team.";
  static override description =
    "People are signed out. API-only users keep their tokens, which lose the rights on this team at once.";
  static override destructive = true;
  static override endpoints = [teamsApi.removeUsers];
  static override args = { team: args.team };
  static override flags = {
    user: Flags.string({
      summary: "User, by id, email or name; can be given several times.",
      multiple: true,
      required: true,
      helpValue: "USER",
    }),
    ...yesFlag,
    ...dryRunFlag,
  };
  static override examples = ["<%= config.bin %> <%= command.id %> Workstations --user member@example.com --yes"];

  async run() {
    const { args, flags } = await this.parse(TeamsUsersRemove);
    const { id, name } = await this.team(args.team);
    const users = [];
    for (const text of listOf(flags.user)) users.push(await this.user(text));
    const change = `${users.map(({ email }) => email).join(", ")} from team ${name}`;
    if (flags["dry-run"]) this.trying(`remove ${change}`, users);
    await this.confirm(`Remove ${change}?`);
    const body = { users: users.map((user) => ({ id: user.id })) };
    const { team } = await this.call(teamsApi.removeUsers, { params: { id }, body });
    await this.report(`removed ${change}`, team, { schema: () => Team });
  }
}
