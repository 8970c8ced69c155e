import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import * as Flags from "@oclif/core/flags";
import type { PackageProgram } from "../../agent/package/files.ts";
import { BaseCommand } from "../../cli/base-command.ts";
import { failed, usage } from "../../cli/errors.ts";
import { bytesOf } from "../../cli/files/file-errors.ts";
import { agentSetup, agentSetupFlags, asCliError } from "../../cli/topics/agent/setup.ts";

/** 2020-01-01: the time of the files in a package if nothing else is said, so that equal input gives equal bytes. */
const DEFAULT_EPOCH = 1_577_836_800;

/** Where Node is after its usual installation. */
const nodePaths = {
  deb: "/usr/bin/node",
  rpm: "/usr/bin/node",
  tar: "/usr/bin/node",
  pkg: "/usr/local/bin/node",
  msi: "C:\\Program Files\\nodejs\\node.exe",
} as const;
type HostType = keyof typeof nodePaths;

const systems = { deb: "linux", rpm: "linux", tar: "linux", pkg: "darwin", msi: "win32" } as const;
const systemNames = { linux: "Linux", darwin: "macOS", win32: "Windows" } as const;

/** On the hosts, whose system may be another one than this machine's. */
function requireFullPath(flag: string, type: HostType, path: string): void {
  const isFull = type === "msi" ? /^[A-Za-z]:[\\/]/.test(path) : path.startsWith("/");
  const example = flag === "--node" ? nodePaths[type] : type === "msi" ? "D:\\svc-agent" : "/var/lib/svc-agent";
  if (!isFull) throw usage(`${flag}: give the full path, such as ${example}`);
}

export default class AgentPackage extends BaseCommand {
  static override summary = "Build a package that installs the agent on hosts.";
  static override description =
    "A .deb, .rpm, .pkg or .msi starts the agent when it is installed; a .tar.gz is unpacked at the root, and started with systemctl enable --now svc-agent. They need Node >= 20.19 on the host, unless --with-node or --program puts it into the package. sea is one executable with Node inside, for hosts like this machine: run it there with the argument install. Packages contain the enroll secret, so the file can be read only by its owner; an executable without --server-url contains none, and takes the flags of svc agent install. A .pkg and an .msi are not signed. The same input gives the same bytes (except an .msi, and a .pkg built on macOS); files get the time of SOURCE_DATE_EPOCH, if that is set.";
  static override examples = [
    "<%= config.bin %> <%= command.id %> --type deb --server-url https://svc.example.com --enroll-secret-file secret.txt",
    "<%= config.bin %> <%= command.id %> --type tar --server-url https://svc.example.com --enroll-secret-file secret.txt --file agent.tar.gz",
    "<%= config.bin %> <%= command.id %> --type pkg --server-url https://svc.example.com --enroll-secret-file secret.txt --program svc-agent-macos",
    "<%= config.bin %> <%= command.id %> --type msi --server-url https://svc.example.com --enroll-secret-file secret.txt --program svc-agent.exe",
    "<%= config.bin %> <%= command.id %> --type sea --server-url https://svc.example.com --enroll-secret-file secret.txt",
  ];
  static override flags = {
    type: Flags.option({ options: ["deb", "rpm", "tar", "pkg", "msi", "sea"] as const })({
      required: true,
      summary: "Type of the package. deb needs dpkg-deb, rpm needs rpmbuild, msi needs wixl and msibuild.",
    }),
    file: Flags.string({ summary: "File to write. Default: the usual name of such a package.", helpValue: "FILE" }),
    "with-node": Flags.boolean({
      summary: "Put the Node that runs here into the package, for hosts of this machine's system and architecture.",
      exclusive: ["node", "program"],
    }),
    program: Flags.string({
      summary: "Put this executable into a pkg or msi: --type sea, built on such a host.",
      helpValue: "FILE",
      exclusive: ["node"],
    }),
    node: Flags.string({
      summary: `Where the hosts have Node. Default: ${nodePaths.deb}; pkg: ${nodePaths.pkg}; msi: ${nodePaths.msi}.`,
      helpValue: "PATH",
    }),
    ...agentSetupFlags,
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(AgentPackage);
    const { type, program } = flags;
    const node = flags.node ?? (type === "sea" ? "" : nodePaths[type]);
    if (type !== "sea") {
      requireFullPath("--node", type, node);
      const system = systems[type];
      if (flags["with-node"] && process.platform !== system)
        throw usage(
          `--with-node: this machine is no ${systemNames[system]} host`,
          system === "linux" ? undefined : "Give such a host's executable with --program FILE instead.",
        );
    }
    if (program !== undefined && type !== "pkg" && type !== "msi") throw usage("--program needs --type pkg or msi");
    const stateDir = flags["state-dir"];
    if ((type === "pkg" || type === "msi") && stateDir !== undefined) requireFullPath("--state-dir", type, stateDir);
    const epoch = this.io.env.SOURCE_DATE_EPOCH ?? String(DEFAULT_EPOCH);
    if (!/^\d{1,10}$/.test(epoch)) throw usage(`SOURCE_DATE_EPOCH: ${epoch} is not a number of seconds since 1970`);
    // A part of a setup is refused for what it lacks.
    const setupFlags = ["server-url", "enroll-secret-file", "ca-file", "pin"] as const;
    const hasSetup =
      type !== "sea" || Boolean(this.io.env.SVC_SERVER_URL) || setupFlags.some((flag) => flags[flag] !== undefined);
    const setup = hasSetup ? await agentSetup(flags, this.io.env) : null;
    const built = join(this.config.root, "dist", "agent.mjs");
    const agent = await readFile(built, "utf8").catch(() => {
      throw failed(`${built}, the agent as one file, is missing`, "Build it: npm run build");
    });
    const { version } = this.config;
    const { buildPackage, executableName, packageName, writeExecutable } = await import("../../agent/package/build.ts");
    const file = await asCliError(async () => {
      if (type === "sea" || setup === null) {
        const place = resolve(flags.file ?? executableName(version));
        await writeExecutable({ agent, setup }, place);
        return place;
      }
      const contents = await this.#programFor(type, { node, agent, program, withNode: flags["with-node"] });
      const place = resolve(flags.file ?? packageName(type, version, contents));
      const packageStateDir = type === "pkg" || type === "msi" ? (stateDir ?? null) : setup.stateDir;
      await buildPackage(
        type,
        { ...setup, stateDir: packageStateDir, version, program: contents },
        place,
        Number(epoch),
      );
      return place;
    });
    this.note(`wrote ${file}${setup === null ? "" : ": it contains the enroll secret"}`);
    if (this.structured) await this.printOne({ file, type, version });
  }

  /** What the package installs: the agent's file for the hosts' Node, or an executable. */
  async #programFor(
    type: HostType,
    parts: { node: string; agent: string; program: string | undefined; withNode: boolean },
  ): Promise<PackageProgram> {
    const { node, agent, program, withNode } = parts;
    if (withNode) {
      const { executableOf } = await import("../../agent/package/build.ts");
      return { executable: await executableOf(agent), arch: process.arch };
    }
    if (program === undefined || (type !== "pkg" && type !== "msi")) return { node, agent };
    const { architectureIn } = await import("../../agent/package/program.ts");
    const executable = await bytesOf(program, "--program");
    return { executable, arch: architectureIn(executable, type) };
  }
}
