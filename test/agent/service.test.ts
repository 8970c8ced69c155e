// The agent as a service. Nothing is installed here: files are written below a folder, and commands are only compared.

import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { install, uninstall } from "../../src/agent/service/apply.ts";
import {
  configFolder,
  removalPlan,
  type ServiceSetup,
  servicePlan,
  stateDirIn,
  statusCommand,
  unitFile,
} from "../../src/agent/service/plan.ts";
import { readSetup } from "../../src/agent/setup.ts";
import { readPlist } from "../../src/plist/read.ts";
import { parseXml } from "../../src/xml/xml.ts";

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "svc-service-"));
});
afterEach(() => rm(root, { recursive: true }));

const setup: ServiceSetup = {
  platform: "linux",
  program: ["/usr/bin/node", "/opt/with space/100%/$x.mjs"],
  serverUrl: "https://svc.example.com",
  enrollSecret: "the-secret",
  ca: "-----BEGIN CERTIFICATE-----\n",
  pins: ["ab".repeat(32)],
  stateDir: "/var/lib/svc-agent",
  runsScripts: true,
};

const contentOf = (of: ServiceSetup, name: RegExp) =>
  servicePlan(of).files.find(({ path }) => name.test(path))!.content;

describe("an installation", () => {
  const where = () => ({ root, isDryRun: false });

  it("writes the service and its secret, which only root can read, and does nothing the second time", async () => {
    const first = await install(servicePlan(setup), statusCommand("linux"), where());
    expect(first.commands).toEqual([]);
    expect(first.changes.map(({ path, outcome }) => [path.slice(root.length), outcome])).toEqual([
      ["/etc/svc-agent/secret", "created"],
      ["/etc/svc-agent/ca.pem", "created"],
      ["/etc/systemd/system/svc-agent.service", "created"],
    ]);
    const secret = join(root, "etc/svc-agent/secret");
    expect(await readFile(secret, "utf8")).toBe("the-secret\n");
    expect((await stat(secret)).mode & 0o777).toBe(0o600);
    const second = await install(servicePlan(setup), statusCommand("linux"), where());
    expect(second.changes.map(({ outcome }) => outcome)).toEqual(["unchanged", "unchanged", "unchanged"]);
    const third = await install(servicePlan({ ...setup, enrollSecret: "new" }), statusCommand("linux"), where());
    expect(third.changes.map(({ outcome }) => outcome)).toEqual(["changed", "unchanged", "unchanged"]);
  });

  it("writes nothing in a dry run", async () => {
    const { changes } = await install(servicePlan(setup), statusCommand("linux"), { root, isDryRun: true });
    expect(changes.map(({ outcome }) => outcome)).toEqual(["created", "created", "created"]);
    await expect(stat(join(root, "etc"))).rejects.toThrow("ENOENT");
  });

  it("is removed without traces, and twice without an error", async () => {
    await install(servicePlan(setup), statusCommand("linux"), where());
    const plan = removalPlan("linux", setup.stateDir);
    const outcomes = async () => (await uninstall(plan, where())).map(({ outcome }) => outcome);
    expect(await outcomes()).toEqual(["removed", "removed", "absent", "absent"]);
    expect(await outcomes()).toEqual(["absent", "absent", "absent", "absent"]);
    await expect(stat(join(root, configFolder("linux")))).rejects.toThrow("ENOENT");
  });
});

describe("a removal of everything", () => {
  it.each(["linux", "linux-openrc", "darwin", "win32"] as const)(
    "on %s includes the state folder of the service",
    (platform) => {
      const stateDir = platform === "win32" ? "D:\\agent 100%" : "/srv/a b/100% $x";
      const plan = servicePlan({ ...setup, platform, stateDir });
      const content = plan.files.find(({ path }) => path === unitFile(platform))!.content;
      expect(stateDirIn(platform, content)).toBe(stateDir);
      const { paths } = removalPlan(platform, stateDir);
      expect(paths).toContain(stateDir);
      expect(paths.some((path) => /(opt\/|Program Files.)svc-agent$/.test(path))).toBe(true);
      expect(removalPlan(platform, null).paths).not.toContain(stateDir);
    },
  );
});

describe("a service", () => {
  it("of OpenRC starts with words as they are", async () => {
    const openrc: ServiceSetup = { ...setup, platform: "linux-openrc", program: ["/opt/with space/it's", "$x"] };
    const script = contentOf(openrc, /init\.d/);
    expect(script).toMatch(/^#!\/sbin\/openrc-run\n/);
    // supervise-daemon evaluates the command and its arguments once more.
    const lines = script.replace(/^output_log[\s\S]*$/m, "");
    const print = `${lines}\neval "printf '%s\\n' $command $command_args"`;
    const words = execFileSync("sh", ["-c", print], { encoding: "utf8" }).split("\n");
    expect(words.slice(0, 5)).toEqual(["/opt/with space/it's", "$x", "run", "--server-url", "https://svc.example.com"]);
    expect(script).not.toContain("the-secret");
  });

  it("of systemd starts with the machine, with words as they are", () => {
    const unit = contentOf(setup, /\.service$/);
    expect(unit).toContain('ExecStart="/usr/bin/node" "/opt/with space/100%%/$$x.mjs" "run" "--server-url"');
    expect(unit).toContain(`"--pin" "${"ab".repeat(32)}" "--state-dir" "/var/lib/svc-agent"\n`);
    expect(unit).toContain("Restart=always");
    expect(unit).not.toContain("the-secret");
    expect(contentOf({ ...setup, runsScripts: false }, /\.service$/)).toContain('"--no-scripts"');
    expect(contentOf({ ...setup, signsRequests: true }, /\.service$/)).toContain('"--sign-requests"');
  });

  it("of launchd is a property list", () => {
    const mac: ServiceSetup = { ...setup, platform: "darwin", program: ["/opt/a&b <c>"] };
    const daemon = readPlist(Buffer.from(contentOf(mac, /\.plist$/))) as Record<string, unknown>;
    expect(daemon).toMatchObject({ Label: "com.svc.agent", RunAtLoad: true, KeepAlive: true });
    expect((daemon.ProgramArguments as string[]).slice(0, 3)).toEqual(["/opt/a&b <c>", "run", "--server-url"]);
  });

  it("of Windows is a task that starts a short command, which starts the agent again", () => {
    const windows: ServiceSetup = {
      ...setup,
      platform: "win32",
      program: ["C:\\Program Files\\nodejs\\node.exe", "C:\\x.mjs"],
    };
    const launcher = contentOf(windows, /run\.cmd$/);
    expect(launcher).toContain('"C:\\Program Files\\nodejs\\node.exe" "C:\\x.mjs" "run"');
    // `timeout` ends at once in a task, which has no console.
    expect(launcher).toMatch(/:start\r\n[^\r]*\r\n[^\r]*\r\nping -n 6 [^\r]*\r\ngoto start\r\n$/);
    const { closed, files } = servicePlan(windows);
    for (const command of closed!.commands) expect(command.slice(0, 2)).toEqual(["icacls", closed!.folder]);
    expect(files.map(({ path }) => path).filter((path) => /secret$/.test(path))[0]).toContain(closed!.folder);
    const create = servicePlan(windows).start.find((command) => command.includes("/Create"))!;
    const path = create[create.indexOf("/XML") + 1]!;
    const task = files.find((file) => file.path === path)!.content;
    expect(parseXml(task, { most: 1_000, lenient: true }).name).toBe("Task");
    expect(task).toMatch(/^[\x20-\x7e\n]*$/);
    // The defaults of Windows would end it after three days, and on battery.
    for (const setting of [
      "<ExecutionTimeLimit>PT0S<",
      "<DisallowStartIfOnBatteries>false<",
      "<StopIfGoingOnBatteries>false<",
      "<UserId>S-1-5-18<",
    ])
      expect(task).toContain(setting);
  });
});

it("takes a state folder from where the agent is started, because scripts start elsewhere", async () => {
  const flags = { "server-url": "https://svc.example.com", "state-dir": "state", scripts: true };
  const { stateDir } = await readSetup(flags, { SVC_ENROLL_SECRET: "secret" });
  expect(stateDir).toBe(join(process.cwd(), "state"));
});

it("writes no text into scripts and units that could end its word there", async () => {
  const secret = { SVC_ENROLL_SECRET: "secret" };
  const read = (more: object) => readSetup({ scripts: true, "server-url": "https://svc.example.com", ...more }, secret);
  for (const url of [
    'https://svc.example.com/"&calc&"',
    "https://svc.example.com/%PATH%",
    "https://svc.example.com/a b",
    "https://svc.example.com/'",
    "https://svc.example.com/$(id)",
    "https://svc.example.com/?a=1&b",
    "https://svc.example.com/#x",
    "https://user:password@svc.example.com",
    "ftp://svc.example.com",
    "svc.example.com",
  ])
    await expect(read({ "server-url": url }), url).rejects.toThrow("--server-url");
  for (const managed of ['https://x/"&calc&"', "https://x/;id"])
    await expect(
      readSetup({ scripts: true }, {}, async () => ({ serverUrl: managed, enrollSecret: "secret" })),
      managed,
    ).rejects.toThrow("--server-url");
  for (const dir of ['/var/"x', "/var/a\nExecStartPre=/bin/id", "/var/a\u2028b"])
    await expect(read({ "state-dir": dir }), dir).rejects.toThrow("--state-dir");
  expect((await read({ "server-url": "https://SVC.example.com:8443/team-1/" })).serverUrl).toBe(
    "https://svc.example.com:8443/team-1",
  );
  const hostile = (platform: ServiceSetup["platform"], text: string) => () =>
    servicePlan({ ...setup, platform, stateDir: text });
  expect(hostile("win32", 'C:\\"&calc&"')).toThrow("batch file");
  expect(hostile("win32", "C:\\a\r\ncalc")).toThrow("batch file");
  expect(hostile("linux", "/var/a\nExecStartPre=/bin/id")).toThrow("unit");
});
