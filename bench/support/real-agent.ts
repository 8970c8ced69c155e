// The agent as hosts run it: dist/agent.mjs as a process of its own, with a state folder and a name of its own.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { connect, createServer, type Server } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { freePort } from "../../test/support/free-port.ts";
import { cleanEnv } from "./serve.ts";

const agentFile = fileURLToPath(new URL("../../dist/agent.mjs", import.meta.url));

export const isRoot = (): boolean => process.platform === "linux" && process.getuid?.() === 0;

export interface RealAgentOptions {
  readonly serverUrl: string;
  /** Folder of state and log; created where it is missing. */
  readonly folder: string;
  readonly ca: string | null;
  readonly secret: string;
  readonly uuid: string;
  /** Hostname in a namespace of its own; only root can make one. */
  readonly hostname?: string;
  /** Read in the place of dpkg's list of packages, in a namespace of its own; only root can make one. */
  readonly dpkgStatus?: string;
  readonly env?: Readonly<Record<string, string>>;
}

export function startRealAgent(options: RealAgentOptions): ChildProcess {
  const { serverUrl, folder, ca, secret, uuid, hostname, dpkgStatus, env = {} } = options;
  mkdirSync(folder, { recursive: true });
  const secretFile = join(folder, "secret");
  writeFileSync(secretFile, secret, { mode: 0o600 });
  const connection = [
    "--server-url",
    serverUrl,
    "--enroll-secret-file",
    secretFile,
    "--state-dir",
    join(folder, "state"),
  ];
  const identity = [
    "--hardware-uuid",
    uuid,
    "--no-osqueryd",
    "--no-updates",
    ...(ca === null ? [] : ["--ca-file", ca]),
  ];
  const argv = [process.execPath, agentFile, "run", ...connection, ...identity];
  const first = [
    ...(hostname === undefined ? [] : ['hostname "$NAME"']),
    ...(dpkgStatus === undefined ? [] : ['mount --bind "$PACKAGES" /var/lib/dpkg/status']),
  ];
  const inside = ["--uts", "--mount", "sh", "-ec", `${first.join("; ")}; exec "$@"`, "sh", ...argv];
  const [file, ...args] = first.length === 0 ? argv : ["unshare", ...inside];
  return spawn(file!, args, {
    stdio: "ignore",
    env: { ...cleanEnv(), ...env, NAME: hostname, PACKAGES: dpkgStatus },
  });
}

/** A list of dpkg with so many packages. */
export const dpkgList = (packages: number): string =>
  Array.from(
    { length: packages },
    (_, i) => `Package: example-${i}
Status: install ok installed
Priority: optional
Section: libs
Installed-Size: ${100 + (i % 900)}
Maintainer: Example Maintainers <maintainers@example.com>
Architecture: amd64
Source: example-source-${i >> 1}
Version: 1:${i % 7}.${i % 13}.${i}-${1 + (i % 3)}
Depends: libc6 (>= 2.36), example-${(i + 1) % packages}
Description: package ${i} of a list that was made for a benchmark
 It has a long description, as packages have,
 of several lines.
Homepage: https://example.com/${i}
`,
  ).join("\n");

/** Resident and proportional memory in bytes, and seconds of CPU, of a process and of the programs that it ran (Linux). */
export function usageOf(pid: number): { rss: number; pss: number; cpu: number } {
  const read = (name: string) => readFileSync(`/proc/${pid}/${name}`, "utf8");
  const fields = read("stat").split(") ")[1]!.split(" ");
  const kilobytes = (name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(read("smaps_rollup"))?.[1] ?? 0);
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return { rss: kilobytes("Rss") * 1024, pss: kilobytes("Pss") * 1024, cpu: ticks / 100 };
}

/** Passes connections on, and counts the bytes in both directions. */
export async function countingDoor(to: number): Promise<{ port: number; bytes: () => number; server: Server }> {
  let bytes = 0;
  const server = createServer((socket) => {
    const onward = connect(to, "127.0.0.1");
    for (const [from, into] of [
      [socket, onward],
      [onward, socket],
    ] as const) {
      from.on("data", (part) => {
        bytes += part.length;
      });
      from.pipe(into);
      from.on("error", () => into.destroy());
    }
  });
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return { port, bytes: () => bytes, server };
}
