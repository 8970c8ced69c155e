// Someone without rights tries to stop the agent, which runs as root, with what they put into their home folder. The agent
// runs in a box with such an account (test/support/box.ts).
import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { needAgentFile } from "../support/agent-file.ts";
import { hasBoxes, writeBox } from "../support/box.ts";
import { root } from "../support/cli.ts";
import { SECRET, withSecret } from "./support/agents.ts";
import { build, newFolder, serve } from "./support/svc.ts";

beforeAll(async () => {
  await build();
  await needAgentFile();
});

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

const HOSTILE = `
echo 'mallory:x:4242:4242::/home/mallory:/bin/sh' >> /etc/passwd
mkdir -p /root/closed && chmod 700 /root/closed
echo '{"publisher":"root","name":"secret"}' > /root/closed/package.json
home=/home/mallory
mkdir -p $home && cd $home
ext=.vscode/extensions
mkdir -p $ext/good $ext/endless $ext/kernel $ext/sparse $ext/nested .ssh .mozilla/firefox/p
echo '{"publisher":"p","name":"good","version":"1.2.3"}' > $ext/good/package.json
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do mkdir $ext/pipe-$i; mkfifo $ext/pipe-$i/package.json; done
ln -s /dev/zero $ext/endless/package.json
ln -s /proc/kmsg $ext/kernel/package.json
truncate -s 1T $ext/sparse/package.json
head -c 2000000 /dev/zero | tr '\\0' '[' > $ext/nested/package.json
ln -s /root/closed $ext/of-root
mkdir "$ext/line
break"; echo '{"publisher":"p","name":"line-break","version":"1"}' > "$ext/line
break/package.json"
mkfifo .ssh/authorized_keys
head -c 3000000 /dev/zero | tr '\\0' ' ' > .ssh/authorized_keys2
mkfifo .mozilla/firefox/p/extensions.json
mkdir -p .config/google-chrome/Default/Extensions && (cd .config/google-chrome/Default/Extensions && seq 100000 | xargs touch)
mkdir -p .local/lib/python3.11/site-packages/x.dist-info && mkfifo .local/lib/python3.11/site-packages/x.dist-info/METADATA
mkfifo .cursor
chown -R -h 4242:4242 $home
`;

/** The process of the agent in the box, as this machine sees it. */
function agentsPid(stateDir: string): number | null {
  for (const name of readdirSync("/proc").filter((one) => /^\d+$/.test(one))) {
    try {
      const words = readFileSync(`/proc/${name}/cmdline`, "utf8").split("\0");
      if (words.includes(stateDir) && words[0] === process.execPath) return Number(name);
    } catch {
      // The process has ended.
    }
  }
  return null;
}

interface HostOf {
  readonly id: number;
  readonly status: string;
  readonly scripts_enabled: boolean | null;
}

const OPENED = "SELECT name FROM vscode_extensions ORDER BY name";

describe.skipIf(!hasBoxes())("the agent on a machine with a hostile home folder", () => {
  it("answers inventory and queries, runs scripts, stays small, and ends when it is stopped", async () => {
    const folder = newFolder();
    const server = await serve({ dataDir: newFolder() });
    const call = await withSecret(server);
    const [box, secret, stateDir] = [join(folder, "box"), join(folder, "secret"), "/var/lib/svc-agent-hostile"];
    writeFileSync(secret, SECRET);
    writeBox(box, join(folder, "machine"));
    const agent = [process.execPath, join(root, "dist/agent.mjs"), "run", "--server-url", server.url];
    const flags = ["--enroll-secret-file", secret, "--state-dir", stateDir, "--hardware-uuid", "HOSTILE-1"];
    const line = `${HOSTILE}\nSVC_AGENT_SCALE=0.1 ${[...agent, ...flags].join(" ")} > /run/agent.log 2>&1 &`;
    const child: ChildProcess = spawn(box, [line], { stdio: ["ignore", "pipe", "inherit"] });
    let log = "";
    child.stdout?.setEncoding("utf8").on("data", (part: string) => {
      log += part;
    });
    ends.push(() => child.kill("SIGKILL"));

    const hosts = async () => (await call<{ hosts: HostOf[] }>("GET", "/hosts")).hosts;
    await expect.poll(async () => (await hosts())[0]?.scripts_enabled, { timeout: 120_000 }).toBe(true);
    const [host] = await hosts();
    const query = (sql: string) =>
      call<{ rows: Record<string, string>[]; error: string | null }>("POST", `/hosts/${host!.id}/query`, {
        query: sql,
      });

    expect(await query(OPENED)).toMatchObject({ error: null, rows: [{ name: "p.good" }, { name: "p.line-break" }] });
    for (const table of ["authorized_keys", "firefox_addons", "chrome_extensions", "processes"])
      expect(await query(`SELECT COUNT(*) AS n FROM ${table} WHERE uid = 4242`)).toMatchObject({ error: null });
    const packages = await query("SELECT name FROM python_packages WHERE uid = 4242");
    expect(packages).toMatchObject({ error: null, rows: [] });
    expect(await query("SELECT * FROM augeas WHERE path = '/root/closed/package.json'")).toMatchObject({ rows: [] });
    const software = () => call<{ software: { name: string }[] }>("GET", `/hosts/${host!.id}/software?query=p.good`);
    await expect.poll(async () => (await software()).software.map(({ name }) => name)).toContain("p.good");

    // While an endless query runs, scripts do.
    const endless = query("WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT COUNT(*) FROM c");
    endless.catch(() => {});
    const script = { host_id: host!.id, script_contents: "#!/bin/sh\necho ran\n" };
    expect(await call("POST", "/scripts/run/sync", script)).toMatchObject({ exit_code: 0, output: "ran\n" });

    const pid = agentsPid(stateDir)!;
    const peak = Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
    expect(peak).toBeLessThan(300_000);
    const stopped = performance.now();
    process.kill(pid, "SIGTERM");
    await expect.poll(() => agentsPid(stateDir), { timeout: 60_000 }).toBeNull();
    // The agent would be killed after 20 seconds.
    expect(performance.now() - stopped).toBeLessThan(15_000);
    expect(log.split("\n").filter((one) => /^(warn|error):/.test(one))).toEqual([]);
  }, 300_000);
});
