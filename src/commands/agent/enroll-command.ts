import * as Flags from "@oclif/core/flags";
import { agentPlatforms, newHostsApi } from "../../api/delivery/new-hosts.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { dryRunFlag, teamFlag } from "../../cli/flags.ts";

export default class AgentEnrollCommand extends ClientCommand {
  static override summary = "Print the command that installs the agent on a new host.";
  static override description =
    "The command contains a token instead of an enroll secret. Until it expires, it enrolls any number of hosts. The new host needs Node >= 20.19 and, on Linux and macOS, curl.";
  static override endpoints = [newHostsApi.createToken];
  static override flags = {
    platform: Flags.string({ summary: "Print only the command for this platform.", options: [...agentPlatforms] }),
    "expires-in": Flags.string({ summary: "How long the token is valid: 30m, 12h; at most 7d.", default: "24h" }),
    "sign-requests": Flags.boolean({
      summary: "Hosts get a certificate and sign their requests with it: they then accept no others.",
    }),
    ...teamFlag,
    ...dryRunFlag,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> --platform linux",
    "<%= config.bin %> <%= command.id %> --team Workstations --expires-in 1h",
    "<%= config.bin %> <%= command.id %> --platform linux --sign-requests",
  ];

  async run() {
    const { flags } = await this.parse(AgentEnrollCommand);
    const { team_id = 0 } = await this.teamFilter(flags.team);
    const { "expires-in": expires_in, "sign-requests": sign_requests } = flags;
    if (this.triesOut)
      this.trying(`create an enroll token that is valid for ${expires_in}`, { team_id, expires_in, sign_requests });
    const created = await this.call(newHostsApi.createToken, { body: { team_id, expires_in, sign_requests } });
    if (created.agent_sha256 === null)
      this.warn("the server has no file of the agent: run `npm run build` where it is installed");
    if (this.structured) return this.printOne(created);
    const { hostname } = new URL(created.server_url);
    if (/^(localhost|127\..*|\[::1\])$/.test(hostname))
      this.warn(
        `${created.server_url} is an address that only this machine knows: set the server's URL with svc config set server_settings.server_url=URL`,
      );
    for (const platform of agentPlatforms) {
      if (flags.platform !== undefined && flags.platform !== platform) continue;
      if (flags.platform === undefined)
        this.log(`# ${platform}${platform === "windows" ? ", in a PowerShell of an administrator" : ""}`);
      this.log(created.commands[platform]);
    }
    this.note(`valid until ${created.expires_at}`);
  }
}
