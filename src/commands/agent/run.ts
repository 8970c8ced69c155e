import * as Flags from "@oclif/core/flags";
import type { Level } from "../../agent/options.ts";
import { BaseCommand } from "../../cli/base-command.ts";
import { usage } from "../../cli/errors.ts";
import { agentSetup, agentSetupFlags } from "../../cli/features/agent/setup.ts";

/** As journals of systemd read them: a number in front of the line. */
const PRIORITIES: Record<Level, string> = { error: "<3>", warn: "<4>", info: "<6>" };

export default class AgentRun extends BaseCommand {
  static override summary = "Run the agent that manages this machine.";
  static override description =
    "Enrolls this machine in the server, then runs until interrupted: it answers the server's queries about the machine, and runs the scripts that administrators start, as the user who started the agent (usually root). Lock, unlock and wipe are such scripts. A script never runs twice: one that was running when the agent stopped is reported as failed. Proxies are read from HTTPS_PROXY, HTTP_PROXY and NO_PROXY.";
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
    const { ca, ...setup } = await agentSetup(flags, env);
    // For tests: a factor for all waits.
    const scale = Number(env.SVC_AGENT_SCALE || 1);
    if (!(scale > 0)) throw usage(`SVC_AGENT_SCALE: ${env.SVC_AGENT_SCALE} is not a positive number`);
    const { runAgent } = await import("../../agent/run.ts");
    const { findOsqueryd } = await import("../../agent/osqueryd.ts");
    // It connects only over TLS.
    const isUsed = flags.osqueryd && setup.serverUrl.startsWith("https:");
    const stop = new AbortController();
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
    const { "hardware-uuid": uuid, "hardware-serial": serial } = flags;
    await runAgent(
      {
        ...setup,
        ...(ca === null ? {} : { ca }),
        version: this.config.version,
        osqueryd: isUsed ? (flags["osqueryd-path"] ?? (await findOsqueryd())) : null,
        hardware: { ...(uuid === undefined ? {} : { uuid }), ...(serial === undefined ? {} : { serial }) },
        scale,
        log: (level, message) => this.note(`${env.JOURNAL_STREAM ? PRIORITIES[level] : `${level}: `}${message}`),
      },
      stop.signal,
    );
  }
}
