// A package of the agent, unpacked as on a host, and its agent against the built server, over TLS.
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, it } from "vitest";
import { SECRET, withSecret } from "./support/agents.ts";
import { build, newFolder, serve, svc, watch } from "./support/svc.ts";

beforeAll(build);

interface HostOf {
  readonly id: number;
  readonly uuid: string;
  readonly status: string;
  readonly scripts_enabled: boolean | null;
}

const noDpkg = spawnSync("dpkg-deb", ["--version"]).error !== undefined;

it.skipIf(noDpkg)(
  "enrolls a host from what a .deb installs, and runs a script on it",
  async () => {
    const folder = newFolder();
    const dataDir = join(folder, "data");
    const server = await serve({ dataDir, args: ["--tls-self-signed"] });
    const call = await withSecret(server);
    const [secret, deb, root] = [join(folder, "secret"), join(folder, "agent.deb"), join(folder, "root")];
    await writeFile(secret, SECRET);
    const given = ["--server-url", server.url, "--enroll-secret-file", secret, "--state-dir", join(folder, "state")];
    const words = ["--type", "deb", "--file", deb, "--node", process.execPath, ...given];
    const ca = ["--ca-file", join(dataDir, "tls", "cert.pem")];
    const built = await svc(["agent", "package", ...words, ...ca]);
    expect([built.code, built.stderr]).toEqual([0, `wrote ${deb}: it contains the enroll secret\n`]);
    execFileSync("dpkg-deb", ["--extract", deb, root]);

    // systemd starts the agent with these arguments, but with other folders.
    const unit = await readFile(join(root, "etc/systemd/system/svc-agent.service"), "utf8");
    const argv = [.../^ExecStart=(.*)$/m.exec(unit)![1]!.matchAll(/"([^"]*)"/g)].map(([, word]) => word!);
    const placed = argv.map((word) =>
      existsSync(join(root, word)) && word !== process.execPath ? join(root, word) : word,
    );
    const identity = ["--hardware-uuid", "0A0A0A0A-0000-4000-8000-0000000000DE", "--no-osqueryd"];
    const agent: ChildProcess = spawn(placed[0]!, [...placed.slice(1), ...identity], {
      env: { ...process.env, SVC_AGENT_SCALE: "0.05" },
      stdio: "ignore",
    });
    watch(agent);
    await expect
      .poll(async () => (await call<{ hosts: HostOf[] }>("GET", "/hosts")).hosts, { timeout: 60_000 })
      .toEqual([
        expect.objectContaining({
          uuid: "0A0A0A0A-0000-4000-8000-0000000000DE",
          status: "online",
          scripts_enabled: true,
        }),
      ]);
    const [host] = (await call<{ hosts: HostOf[] }>("GET", "/hosts")).hosts;
    const script = { host_id: host!.id, script_contents: "#!/bin/sh\necho packaged\n" };
    expect(await call("POST", "/scripts/run/sync", script)).toMatchObject({ exit_code: 0, output: "packaged\n" });
    const ended = new Promise((done) => agent.once("exit", done));
    agent.kill("SIGTERM");
    await ended;
  },
  240_000,
);
