import * as Flags from "@oclif/core/flags";
import { roles } from "../../../api/access.ts";
import { Team, teamsApi } from "../../../api/settings/teams.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { args, dryRunFlag, listOf } from "../../../cli/flags.ts";

export default class TeamsUsersAdd extends ClientCommand {
  static override summary = "Add users to a team, or change their role on it.";
  static override description =
    "People whose role on the team changes are signed out. API-only users keep their tokens, with the new rights at " +
    "once. The admins of a team can only add users of teams that they are admins of; other users are added by a global admin.";
  static override endpoints = [teamsApi.addUsers];
  static override args = { team: args.team };
  static override flags = {
    user: Flags.string({
      summary: "User, by id, email or name; can be given several times.",
      multiple: true,
      required: true,
      helpValue: "USER",
    }),
    role: Flags.option({ options: roles })({ summary: "Role on the team.", required: true }),
    ...dryRunFlag,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> Workstations --user member@example.com --role maintainer",
  ];

  async run() {
    const { args, flags } = await this.parse(TeamsUsersAdd);
    const { id, name } = await this.team(args.team);
    const users = [];
    for (const text of listOf(flags.user)) users.push(await this.user(text));
    const change = `${users.map(({ email }) => email).join(", ")} to team ${name} as ${flags.role}`;
    if (flags["dry-run"]) this.trying(`add ${change}`, users);
    const body = { users: users.map((user) => ({ id: user.id, role: flags.role })) };
    const { team } = await this.call(teamsApi.addUsers, { params: { id }, body });
    await this.report(`added ${change}`, team, { schema: () => Team });
  }
}
