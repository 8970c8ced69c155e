import { readFile } from "node:fs/promises";
import { join } from "node:path";
import * as Flags from "@oclif/core/flags";
import type { Level } from "../../agent/options.ts";
import { BaseCommand } from "../../cli/base-command.ts";
import { failed, usage } from "../../cli/errors.ts";

/** As journals of systemd read them: a number in front of the line. */
const PRIORITIES: Record<Level, string> = { error: "<3>", warn: "<4>", info: "<6>" };

const defaultStateDir = () =>
  process.platform === "win32" ? join(process.env.ProgramData ?? "C:\\ProgramData", "svc-agent") : "/var/lib/svc-agent";

export default class AgentRun extends BaseCommand {
  static override summary = "Run the agent that manages this machine.";
  static override description =
    "Enrolls this machine in the server, then runs until interrupted: it answers the server's queries about the machine, and runs the scripts that administrators start, as the user who started the agent (usually root). Lock, unlock and wipe are such scripts. A script never runs twice: one that was running when the agent stopped is reported as failed. Proxies are read from HTTPS_PROXY, HTTP_PROXY and NO_PROXY.";
  static override examples = [
    "<%= config.bin %> <%= command.id %> --server-url https://svc.example.com --enroll-secret-file /etc/svc-agent/secret",
  ];
  static override flags = {
    "server-url": Flags.string({ summary: "URL of the server. Env: SVC_SERVER_URL.", helpValue: "URL" }),
    "enroll-secret-file": Flags.string({
      summary: "File with the enroll secret. Env: SVC_ENROLL_SECRET, the secret itself.",
      helpValue: "FILE",
    }),
    "ca-file": Flags.string({
      summary: "File with certificates to trust instead of the system's (PEM). Env: SVC_CA_FILE.",
      helpValue: "FILE",
    }),
    pin: Flags.string({
      summary:
        "SHA-256 fingerprint that the server's certificate, or one that signed it, must have. Several allow a change.",
      helpValue: "SHA256",
      multiple: true,
    }),
    "state-dir": Flags.string({
      summary: "Folder for the agent's keys and its journal of scripts. Default: /var/lib/svc-agent.",
      helpValue: "DIR",
    }),
    osqueryd: Flags.boolean({
      summary: "Run the osqueryd that is installed for queries, if there is one and the server has https.",
      allowNo: true,
      default: true,
    }),
    "osqueryd-path": Flags.string({ summary: "Where osqueryd is installed.", helpValue: "FILE" }),
    scripts: Flags.boolean({ summary: "Run scripts of administrators.", allowNo: true, default: true }),
    "hardware-uuid": Flags.string({ summary: "UUID to enroll with instead of the machine's own.", helpValue: "UUID" }),
    "hardware-serial": Flags.string({ summary: "Serial number instead of the machine's own.", helpValue: "SERIAL" }),
    scale: Flags.string({ summary: "Factor for all waits, for tests.", default: "1", hidden: true }),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(AgentRun);
    const { env } = this.io;
    const serverUrl = flags["server-url"] ?? env.SVC_SERVER_URL;
    if (!serverUrl || !URL.canParse(serverUrl)) throw usage("--server-url URL is required");
    const pins = flags.pin ?? [];
    const bad = pins.find((pin) => !/^[0-9a-f]{64}$/i.test(pin.replaceAll(":", "")));
    if (bad !== undefined) throw usage(`--pin: ${bad} is not a SHA-256 fingerprint (64 hexadecimal digits)`);
    if (pins.length > 0 && !serverUrl.startsWith("https:")) throw usage("--pin needs a server with https");
    const scale = Number(flags.scale);
    if (!(scale > 0)) throw usage(`--scale: ${flags.scale} is not a positive number`);
    const caFile = flags["ca-file"] ?? env.SVC_CA_FILE;
    const ca = caFile ? await this.read(caFile, "--ca-file") : undefined;
    const enrollSecret = (
      flags["enroll-secret-file"] === undefined
        ? (env.SVC_ENROLL_SECRET ?? "")
        : await this.read(flags["enroll-secret-file"], "--enroll-secret-file")
    ).trim();
    if (enrollSecret === "")
      throw usage("--enroll-secret-file FILE is required", "`svc enroll-secrets list` prints the secrets of a server.");
    const { runAgent } = await import("../../agent/run.ts");
    const { findOsqueryd } = await import("../../agent/osqueryd.ts");
    // It connects only over TLS.
    const isUsed = flags.osqueryd && serverUrl.startsWith("https:");
    const osqueryd = isUsed ? (flags["osqueryd-path"] ?? (await findOsqueryd())) : null;
    const stop = new AbortController();
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
    const { "hardware-uuid": uuid, "hardware-serial": serial } = flags;
    await runAgent(
      {
        serverUrl: serverUrl.replace(/\/+$/, ""),
        enrollSecret,
        stateDir: flags["state-dir"] ?? defaultStateDir(),
        version: this.config.version,
        ...(ca === undefined ? {} : { ca }),
        pins,
        runsScripts: flags.scripts,
        osqueryd,
        hardware: { ...(uuid === undefined ? {} : { uuid }), ...(serial === undefined ? {} : { serial }) },
        scale,
        log: (level, message) => this.note(`${env.JOURNAL_STREAM ? PRIORITIES[level] : `${level}: `}${message}`),
      },
      stop.signal,
    );
  }

  private read(file: string, flag: string): Promise<string> {
    return readFile(file, "utf8").catch((error: Error) => {
      throw failed(`${flag}: ${file} cannot be read: ${error.message}`);
    });
  }
}
