import * as Flags from "@oclif/core/flags";
import { AbmToken, abmApi } from "../../../api/devices/abm.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { failed, usage } from "../../../cli/errors.ts";
import { args, dryRunFlag, isNoTeam } from "../../../cli/flags.ts";

const team = (devices: string) =>
  Flags.string({ summary: `Team of new ${devices}; 0: no team. Default: unchanged.`, helpValue: "TEAM" });

export default class MdmAbmTeams extends ClientCommand {
  static override summary = "Set the teams of devices that are new in the business portal, by platform.";
  static override endpoints = [abmApi.teams];
  static override args = { token: args.required("id of the token") };
  static override flags = {
    macos: team("Macs"),
    ios: team("iPhones"),
    ipados: team("iPads"),
    byod: team("personal devices"),
    ...dryRunFlag,
  };
  static override examples = ["<%= config.bin %> <%= command.id %> 1 --macos Workstations --ios 0"];

  async run() {
    const { args, flags } = await this.parse(MdmAbmTeams);
    const platforms = ["macos", "ios", "ipados", "byod"] as const;
    if (platforms.every((platform) => flags[platform] === undefined))
      throw usage("no team is given", "Give at least one of --macos, --ios, --ipados and --byod.");
    const { abm_tokens: tokens } = await this.call(abmApi.list);
    const token = tokens.find(({ id }) => String(id) === args.token);
    if (!token) throw failed(`there is no token ${args.token}; see \`svc mdm abm list\``);
    const body: Record<string, number | null> = {};
    for (const platform of platforms) {
      const name = flags[platform];
      // The API sets all four teams.
      const now = token[`${platform}_team`]?.id ?? null;
      body[`${platform}_team_id`] = name === undefined ? now : isNoTeam(name) ? null : (await this.team(name)).id;
    }
    if (flags["dry-run"]) this.trying(`set the teams of token ${token.id}`, { id: token.id, ...body });
    const { abm_token: changed } = await this.call(abmApi.teams, { params: { id: String(token.id) }, body });
    await this.report(`set the teams of token ${token.id}`, changed, { schema: () => AbmToken });
  }
}
