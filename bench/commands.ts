// `npm run bench -- commands [ROUNDS]`: the CPU time (user and system) of whole processes of the command line, beside that
// of a bare node, with a server of 50 hosts and 200 policies in a process of its own. `BENCH_NODE=PATH` runs them with another
// version of Node.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { median } from "./support/figures.ts";
import { cleanEnv, startServe, tokenOf } from "./support/serve.ts";

const HOSTS = 50;
const POLICIES = 200;
const node = process.env.BENCH_NODE ?? process.execPath;

/** Runs a process, with what the shell's `time` reports of it. */
function cpuOf(args: readonly string[], env: NodeJS.ProcessEnv): number {
  const { status, stderr } = spawnSync(
    "bash",
    ["-c", `TIMEFORMAT="cpu %3U %3S"; time "$@" >/dev/null`, "bash", node, ...args],
    {
      encoding: "utf8",
      env,
    },
  );
  const [, user, system] = /cpu ([\d.]+) ([\d.]+)\s*$/.exec(stderr) ?? [];
  if (status !== 0 || user === undefined) throw new Error(`${args.join(" ")} ended with ${status}: ${stderr}`);
  return 1000 * (Number(user) + Number(system));
}

/** A file with policies, as people write it. */
function writePolicies(dir: string, serverUrl: string): string {
  const policy = (number: number) => `  - name: Policy ${number}
    query: SELECT 1 FROM os_version WHERE major >= ${number % 14};
    description: Requires a recent version of the system, number ${number}.
    resolution: Update the system in its settings.
    platform: darwin
`;
  const path = join(dir, "default.yml");
  const policies = Array.from({ length: POLICIES }, (_, index) => policy(index + 1)).join("");
  writeFileSync(path, `org_settings:\n  server_settings:\n    server_url: ${serverUrl}\npolicies:\n${policies}`);
  return path;
}

export async function run(args: readonly string[]): Promise<void> {
  const rounds = Number(args[0] ?? 15);
  const dir = mkdtempSync(join(tmpdir(), "svc-bench-"));
  const server = await startServe({ dataDir: join(dir, "data"), args: ["--dev-license"] });
  try {
    const token = await tokenOf(server);
    const env = { ...cleanEnv(), SVC_SERVER_URL: server.url, SVC_API_TOKEN: token, HOME: dir, SVC_KEYRING: "off" };
    const file = writePolicies(dir, server.url);
    cpuOf(["bin/run.js", "enroll-secrets", "add"], env);
    cpuOf(["bin/run.js", "agent", "simulate", "--hosts", String(HOSTS), "--enroll-only"], env);
    cpuOf(["bin/run.js", "apply", "-f", file, "--yes"], env);
    const commands: Record<string, readonly string[]> = {
      "node -e 0": ["-e", "0"],
      "svc --version": ["bin/run.js", "--version"],
      "svc hosts list": ["bin/run.js", "hosts", "list"],
      "svc plan": ["bin/run.js", "plan", "-f", file],
      "svc explain": ["bin/run.js", "explain"],
      "names of hosts after Tab": ["bin/run.js", "completion", "--complete", "--", "hosts", "get", ""],
    };
    const times = new Map(Object.keys(commands).map((name): [string, number[]] => [name, []]));
    // Alternating, so that a slowdown of the machine affects all of them.
    for (let round = 0; round < rounds; round++)
      for (const [name, words] of Object.entries(commands)) {
        // Names are cached for a while: each round begins without them.
        const cache = mkdtempSync(join(dir, "cache-"));
        times.get(name)!.push(cpuOf(words, { ...env, XDG_CACHE_HOME: cache }));
      }
    const base = median(times.get("node -e 0")!);
    for (const [name, all] of times)
      console.log(
        `${name.padEnd(25)} ${median(all).toFixed(0)} ms of CPU time, ${(median(all) / base).toFixed(2)} x node -e 0 (least ${Math.min(...all).toFixed(0)} ms)`,
      );
  } finally {
    await server.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}
