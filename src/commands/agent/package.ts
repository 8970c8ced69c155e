import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import * as Flags from "@oclif/core/flags";
import { BaseCommand } from "../../cli/base-command.ts";
import { failed, usage } from "../../cli/errors.ts";
import { agentSetup, agentSetupFlags, asCliError } from "../../cli/features/agent/setup.ts";

/** 2020-01-01: the time of the files in a package if nothing else is said, so that equal input gives equal bytes. */
const DEFAULT_EPOCH = 1_577_836_800;

export default class AgentPackage extends BaseCommand {
  static override summary = "Build a package that installs the agent on hosts.";
  static override description =
    "A .deb or .rpm starts the agent when it is installed; a .tar.gz is unpacked at the root, and started with systemctl enable --now svc-agent. They need Node >= 20.19 on the host, unless --with-node puts it into the package. sea is one executable with Node inside, for hosts like this machine: run it there with the argument install. Packages contain the enroll secret, so the file can be read only by its owner; an executable without --server-url contains none, and takes the flags of svc agent install. The same input gives the same bytes; files get the time of SOURCE_DATE_EPOCH, if that is set.";
  static override examples = [
    "<%= config.bin %> <%= command.id %> --type deb --server-url https://svc.example.com --enroll-secret-file secret.txt",
    "<%= config.bin %> <%= command.id %> --type tar --server-url https://svc.example.com --enroll-secret-file secret.txt --file agent.tar.gz",
    "<%= config.bin %> <%= command.id %> --type sea --server-url https://svc.example.com --enroll-secret-file secret.txt",
  ];
  static override flags = {
    type: Flags.option({ options: ["deb", "rpm", "tar", "sea"] as const })({
      required: true,
      summary: "Type of the package. deb needs dpkg-deb, rpm needs rpmbuild.",
    }),
    file: Flags.string({ summary: "File to write. Default: the usual name of such a package.", helpValue: "FILE" }),
    "with-node": Flags.boolean({
      summary: "Put the Node that runs here into the package, for hosts of this machine's architecture.",
      exclusive: ["node"],
    }),
    node: Flags.string({ summary: "Where the hosts have Node.", default: "/usr/bin/node", helpValue: "PATH" }),
    ...agentSetupFlags,
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(AgentPackage);
    const { type, node } = flags;
    if (!node.startsWith("/")) throw usage("--node: give the full path, such as /usr/bin/node");
    const epoch = this.io.env.SOURCE_DATE_EPOCH ?? String(DEFAULT_EPOCH);
    if (!/^\d{1,10}$/.test(epoch)) throw usage(`SOURCE_DATE_EPOCH: ${epoch} is not a number of seconds since 1970`);
    // A part of a setup is refused for what it lacks.
    const given = ["server-url", "enroll-secret-file", "ca-file", "pin"] as const;
    const hasSetup =
      type !== "sea" || Boolean(this.io.env.SVC_SERVER_URL) || given.some((flag) => flags[flag] !== undefined);
    const setup = hasSetup ? await agentSetup(flags, this.io.env) : null;
    const built = join(this.config.root, "dist", "agent.mjs");
    const agent = await readFile(built, "utf8").catch(() => {
      throw failed(`${built}, the agent as one file, is missing`, "Build it: npm run build");
    });
    const { version } = this.config;
    if (flags["with-node"] && process.platform !== "linux") throw usage("--with-node works only on Linux");
    const { buildPackage, executableName, executableOf, packageName, writeExecutable } = await import(
      "../../agent/package/build.ts"
    );
    const file = await asCliError(async () => {
      if (type === "sea" || setup === null) {
        const place = resolve(flags.file ?? executableName(version));
        await writeExecutable({ agent, setup }, place);
        return place;
      }
      const hasNode = flags["with-node"];
      const program = hasNode ? { executable: await executableOf(agent), arch: process.arch } : { node, agent };
      const place = resolve(flags.file ?? packageName(type, version, program));
      await buildPackage(type, { ...setup, version, program }, place, Number(epoch));
      return place;
    });
    this.note(`wrote ${file}${setup === null ? "" : ": it contains the enroll secret"}`);
    if (this.structured) await this.printOne({ file, type, version });
  }
}
