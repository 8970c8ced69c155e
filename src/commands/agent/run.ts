import * as Flags from "@oclif/core/flags";
import { BaseCommand } from "../../cli/base-command.ts";
import { agentSetup, agentSetupFlags, asCliError } from "../../cli/topics/agent/setup.ts";

export default class AgentRun extends BaseCommand {
  static override summary = "Run the agent that manages this machine.";
  static override description =
    "Enrolls this machine in the server, then runs until interrupted: it answers the server's queries about the machine, and runs the scripts and installs the software that administrators choose, as the user who started the agent (usually root). Lock, unlock and wipe are such scripts. Scripts and installs never run twice: what was running when the agent stopped is reported as failed. Proxies are read from HTTPS_PROXY, HTTP_PROXY and NO_PROXY.";
  static override examples = [
    "<%= config.bin %> <%= command.id %> --server-url https://svc.example.com --enroll-secret-file /etc/svc-agent/secret",
  ];
  static override flags = {
    ...agentSetupFlags,
    osqueryd: Flags.boolean({
      summary: "Run the osqueryd that is installed for queries, if there is one and the server has https.",
      allowNo: true,
      default: true,
    }),
    "osqueryd-path": Flags.string({ summary: "Where osqueryd is installed.", helpValue: "FILE" }),
    "hardware-uuid": Flags.string({ summary: "UUID to enroll with instead of the machine's own.", helpValue: "UUID" }),
    "hardware-serial": Flags.string({ summary: "Serial number instead of the machine's own.", helpValue: "SERIAL" }),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(AgentRun);
    const { env } = this.io;
    const setup = await agentSetup(flags, env);
    const { startAgent } = await import("../../agent/start.ts");
    const { version } = this.config;
    const { moduleProgram } = await import("../../agent/isolated/module-program.ts");
    const parts = { version, env, note: (line: string) => this.note(line), secondProgram: moduleProgram() };
    await asCliError(() => startAgent(setup, flags, parts));
  }
}
