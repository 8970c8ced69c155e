// The script for new hosts on whole machines: in boxes (test/support/box.ts), where what it installs is in memory only.
import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { bundleAgent } from "../../scripts/bundle-agent.mjs";
import { hasBoxes, writeBox } from "../support/box.ts";
import { root as project } from "../support/cli.ts";
import { InstallStandIn } from "./support/install-server.ts";

let folder: string;
const standIn = new InstallStandIn();
let url: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-enroll-box-"));
  await chmod(folder, 0o755);
  await bundleAgent(project, join(folder, "agent.mjs"));
  const agent = await readFile(join(folder, "agent.mjs"));
  const sha256 = createHash("sha256").update(agent).digest("hex");
  const template = await readFile(join(project, "src/server/delivery/new-hosts/enroll.sh"), "utf8");
  standIn.files.set("/enroll/agent.mjs", agent);
  standIn.files.set("/enroll/enroll.sh", template.replace("@AGENT_SHA256@", sha256).replace("@AUTHORITY@", ""));
  url = await standIn.start();
  await mkdir(join(folder, "stubs"));
  for (const [name, text] of Object.entries(stubs)) {
    await writeFile(join(folder, "stubs", name), `#!/bin/sh\n${text}\n`);
    await chmod(join(folder, "stubs", name), 0o755);
  }
}, 120_000);
afterAll(async () => {
  standIn.stop();
  await rm(folder, { recursive: true, force: true });
});

/** A user without rights, and as much of OpenRC as the service needs: what is restarted runs until the box ends. */
const stubs = {
  id: "echo 1000",
  "rc-update": 'echo "rc-update $*" >> /run/rc.log',
  "rc-service": `echo "rc-service $*" >> /run/rc.log
[ "$2" != stop ] || kill "$(cat /run/agent.pid)"
[ "$2" = restart ] || exit 0
. /etc/init.d/svc-agent
(eval "exec env SVC_AGENT_SCALE=0.1 $command $command_args") > /run/agent.log 2>&1 &
echo $! > /run/agent.pid`,
};

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

let boxes = 0;
/** Runs the lines in a box of their own; returns what they print. */
async function run(lines: string): Promise<() => string> {
  const box = join(folder, `box-${++boxes}`);
  writeBox(box, join(folder, `machine-${boxes}`));
  const enroll = `curl -fsSL ${url}/enroll/enroll.sh | SVC_AGENT_SCALE=0.1 sh -s -- --server-url ${url} --token secret`;
  const child = spawn(box, [lines.replaceAll("ENROLL", enroll).replaceAll("STUBS", join(folder, "stubs"))]);
  children.push(child);
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (part: string) => {
      output += part;
    });
  return () => output;
}

const EVERYTHING = "find /etc /opt /usr/local/bin /var /run /root -name '*svc-agent*' 2>/dev/null";

describe.skipIf(!hasBoxes())("the line for new hosts", () => {
  it("asks for the rights of root by itself", async () => {
    const output = await run(`
PATH=STUBS:$PATH
printf '#!/bin/sh\\necho "elevated: $1"\\nexec "$@"\\n' > /usr/local/bin/sudo
ENROLL; echo "exit $?"`);
    await expect.poll(output, { timeout: 60_000 }).toContain("exit 0");
    expect(output()).toMatch(/elevated: sh\n[\s\S]*elevated: \/\S*node\n[\s\S]*svc-agent\.service: created/);
    await expect.poll(output, { timeout: 60_000 }).toContain("enrolled for scripts");
  });

  it("fails without sudo and doas, and before it has written anything", async () => {
    const output = await run(`
mkdir /run/bin; for one in sh curl cat mktemp rm uname dirname node find; do ln -s "$(command -v $one)" /run/bin/$one; done
cp STUBS/id /run/bin
PATH=/run/bin; ENROLL || echo "exit $?"
${EVERYTHING}; echo end`);
    await expect.poll(output, { timeout: 60_000 }).toContain("end\n");
    expect(output()).toContain("enroll: this machine has neither sudo nor doas: run this as root\nexit 1\nend");
  });

  it("writes nothing where no service manager runs, and names --run, which serves a container", async () => {
    const output = await run(`
rm -r /run/systemd
ENROLL || echo "exit $?"
${EVERYTHING}
node ${join(folder, "agent.mjs")} install --server-url ${url} --enroll-secret-file ${join(folder, "agent.mjs")} || echo "exit $?"
${EVERYTHING}; echo end
(ENROLL --run --hardware-uuid CONTAINER-1 > /run/agent.log 2>&1; echo "exit $?") &
sleep 1; echo started`);
    await expect.poll(output, { timeout: 60_000 }).toContain("started");
    const [before = "", after] = output().split("end\n");
    expect(before).toMatch(
      /neither systemd nor OpenRC runs on this machine[^\n]*Add --run[^\n]*\nexit 1\nerror: The agent/,
    );
    expect(before).toMatch(
      /Nothing was written\.\nRun the agent itself instead: node agent\.mjs run [^\n]*\nexit 1\n$/,
    );
    expect(after).toContain("started");
    await expect.poll(output, { timeout: 60_000 }).toContain("enrolled for scripts");
    expect(output()).toContain("(CONTAINER-1)");
  });

  it("serves OpenRC, and uninstall --purge leaves nothing", async () => {
    const output = await run(`
rm -r /run/systemd; mkdir /run/openrc; touch /run/openrc/softlevel
cp STUBS/rc-* /usr/local/bin
ENROLL; echo "exit $?"
until grep -q "enrolled for scripts" /run/agent.log; do sleep 0.2; done
node /opt/svc-agent/agent.mjs status | grep installed
touch /var/log/svc-agent.log
node /opt/svc-agent/agent.mjs uninstall --purge
cat /run/rc.log; echo "left:"; ${EVERYTHING}; echo end`);
    await expect.poll(output, { timeout: 120_000 }).toContain("end\n");
    const text = output();
    expect(text).toContain("/etc/init.d/svc-agent: created\nran: rc-update add svc-agent default\n");
    expect(text).toContain('"installed": true');
    for (const path of ["/etc/init.d/svc-agent", "/etc/svc-agent", "/var/lib/svc-agent", "/opt/svc-agent"])
      expect(text).toContain(`${path}: removed`);
    expect(text).toContain("/var/log/svc-agent.log: removed");
    expect(text).toContain("rc-service svc-agent stop\nrc-update delete svc-agent default");
    expect(text).toContain("left:\nend");
  });
});
