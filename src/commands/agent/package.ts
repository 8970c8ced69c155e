import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import * as Flags from "@oclif/core/flags";
import { BaseCommand } from "../../cli/base-command.ts";
import { failed, usage } from "../../cli/errors.ts";
import { agentSetup, agentSetupFlags, asCliError } from "../../cli/features/agent/setup.ts";

/** 2020-01-01: the time of the files in a package if nothing else is said, so that equal input gives equal bytes. */
const DEFAULT_EPOCH = 1_577_836_800;

export default class AgentPackage extends BaseCommand {
  static override summary = "Build a package that installs the agent on Linux hosts.";
  static override description =
    "A .deb or .rpm needs the package nodejs (>= 20.19) on the host, and starts the agent when it is installed. A .tar.gz is unpacked at the root, and started with systemctl enable --now svc-agent. The package contains the enroll secret, so the file can be read only by its owner. The same input gives the same bytes; files get the time of SOURCE_DATE_EPOCH, if that is set.";
  static override examples = [
    "<%= config.bin %> <%= command.id %> --type deb --server-url https://svc.example.com --enroll-secret-file secret.txt",
    "<%= config.bin %> <%= command.id %> --type tar --server-url https://svc.example.com --enroll-secret-file secret.txt --file agent.tar.gz",
  ];
  static override flags = {
    type: Flags.option({ options: ["deb", "rpm", "tar"] as const })({
      required: true,
      summary: "Type of the package. deb needs dpkg-deb, rpm needs rpmbuild.",
    }),
    file: Flags.string({ summary: "File to write. Default: the usual name of such a package.", helpValue: "FILE" }),
    node: Flags.string({ summary: "Where the hosts have Node.", default: "/usr/bin/node", helpValue: "PATH" }),
    ...agentSetupFlags,
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(AgentPackage);
    const { type, node } = flags;
    if (!node.startsWith("/")) throw usage("--node: give the full path, such as /usr/bin/node");
    const given = this.io.env.SOURCE_DATE_EPOCH ?? String(DEFAULT_EPOCH);
    if (!/^\d{1,10}$/.test(given)) throw usage(`SOURCE_DATE_EPOCH: ${given} is not a number of seconds since 1970`);
    const built = join(this.config.root, "dist", "agent.mjs");
    const setup = await agentSetup(flags, this.io.env);
    const agent = await readFile(built, "utf8").catch(() => {
      throw failed(`${built}, the agent as one file, is missing`, "Build it: npm run build");
    });
    const { buildPackage, packageName } = await import("../../agent/package/build.ts");
    const { version } = this.config;
    const file = resolve(flags.file ?? packageName(type, version));
    await asCliError(() => buildPackage(type, { ...setup, node, version, agent }, file, Number(given)));
    this.note(`wrote ${file}: it contains the enroll secret`);
    if (this.structured) await this.printOne({ file, type, version });
  }
}
