// Runs the README's first commands as a new user does: start the server, enroll simulated agents, list the hosts.
import { execFile, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const dir = mkdtempSync(join(tmpdir(), "svc-smoke-"));
const port = await new Promise((resolve) => {
  const probe = createServer().listen(0, "127.0.0.1", () => {
    const { port } = probe.address();
    probe.close(() => resolve(port));
  });
});
const env = { ...process.env, SVC_DATA_DIR: join(dir, "data"), SVC_PORT: String(port), XDG_CONFIG_HOME: join(dir, "config"), SVC_KEYRING: "off" };
const server = spawn("npm", ["start"], { env, stdio: ["ignore", "pipe", "pipe"], detached: true });
let output = "";
for (const stream of [server.stdout, server.stderr]) stream.on("data", (chunk) => (output += chunk));
const svc = (...args) => run("npx", ["svc", ...args], { env, timeout: 60_000 });

try {
  const until = Date.now() + 60_000;
  for (;;) {
    const ready = await fetch(`http://127.0.0.1:${port}/healthz`).then((reply) => reply.ok, () => false);
    if (ready && /^password: /m.test(output)) break;
    if (Date.now() > until || server.exitCode !== null) throw new Error(`the server did not start:\n${output}`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  const simulated = await svc("agent", "simulate", "--hosts", "25", "--duration", "15s");
  console.log(simulated.stdout);
  const { stdout } = await svc("hosts", "list", "--all", "--json");
  const hosts = JSON.parse(stdout);
  if (hosts.length !== 25) throw new Error(`25 hosts expected, ${hosts.length} listed`);
  const bare = hosts.filter((host) => host.platform === "" || host.os_version === "" || host.status !== "online");
  if (bare.length > 0) throw new Error(`hosts without inventory: ${JSON.stringify(bare[0]).slice(0, 500)}`);
  console.log((await svc("hosts", "list", "--limit", "5")).stdout);
  const stopped = new Promise((resolve) => server.on("exit", resolve));
  process.kill(-server.pid, "SIGTERM");
  await stopped;
  console.log("smoke: ok");
} finally {
  try {
    process.kill(-server.pid, "SIGKILL");
  } catch {}
  rmSync(dir, { recursive: true, force: true });
}
