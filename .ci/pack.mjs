// Checks that the packed package starts as users install it: from its tarball, without development dependencies, in a
// project and globally.
import { execFile, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const dir = mkdtempSync(join(tmpdir(), "svc-pack-"));
const [project, prefix] = [join(dir, "project"), join(dir, "global")];
const run = (command, args, cwd, env = process.env) => promisify(execFile)(command, args, { cwd, env, timeout: 600_000 });
const quiet = ["--omit=dev", "--no-audit", "--no-fund", "--prefer-offline"];

const freePort = () =>
  new Promise((resolve) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });

/** Starts a server with the binary, and checks it with the same binary. */
async function serves(svc, at) {
  const port = await freePort();
  const home = join(dir, `home-${port}`);
  const env = { ...process.env, SVC_DATA_DIR: join(home, "data"), SVC_PORT: String(port), XDG_CONFIG_HOME: join(home, "config"), SVC_KEYRING: "off" };
  const server = spawn(svc, ["serve", "--quickstart"], { cwd: at, env, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [server.stdout, server.stderr]) stream.on("data", (chunk) => (output += chunk));
  try {
    for (const until = Date.now() + 120_000; !output.includes("In a second terminal"); ) {
      if (Date.now() > until || server.exitCode !== null) throw new Error(`the server did not start:\n${output}`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    const { stdout } = await run(svc, ["status", "--json"], at, env);
    if (JSON.parse(stdout).health !== "ok") throw new Error(`not healthy: ${stdout}`);
    const ended = new Promise((resolve) => server.on("exit", resolve));
    server.kill("SIGTERM");
    const code = await ended;
    if (code !== 0) throw new Error(`serve ended with ${code}:\n${output}`);
  } finally {
    server.kill("SIGKILL");
  }
}

try {
  await run("npm", ["pack", "--ignore-scripts", "--pack-destination", dir], root);
  const name = readdirSync(dir).find((file) => file.endsWith(".tgz"));
  const tarball = join(dir, name);
  mkdirSync(project);
  writeFileSync(join(project, "package.json"), '{"name":"a-project","private":true}\n');
  await run("npm", ["install", tarball, ...quiet], project);
  const versions = [
    (await run("npx", ["--no-install", "svc", "--version"], project)).stdout,
    (await run("npm", ["install", "-g", "--prefix", prefix, tarball, ...quiet], dir), await run(join(prefix, "bin", "svc"), ["--version"], dir)).stdout,
  ];
  for (const version of versions) if (!/^svc\/\d+\.\d+\.\d+ /.test(version)) throw new Error(`no version: ${version}`);
  await serves(join(project, "node_modules", ".bin", "svc"), project);
  await serves(join(prefix, "bin", "svc"), dir);
  const { stdout: size } = await run("du", ["-sm", join(project, "node_modules")], dir);
  console.log(`pack: ok, ${name} has ${Math.round(statSync(tarball).size / 1000)} kB, installed with what it needs ${parseInt(size, 10)} MB`);
} finally {
  rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
}
