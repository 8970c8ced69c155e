// Installer packages of the agent for macOS and Windows, read with tools of others and with the server's own readers.
import { execFileSync } from "node:child_process";
import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { buildPackage, type PackageType, packageName } from "../../src/agent/package/build.ts";
import type { PackageSetup } from "../../src/agent/package/files.ts";
import { installScript, uninstallScript } from "../../src/agent/package/msi/scripts.ts";
import { guidOf, productVersion } from "../../src/agent/package/msi/tables.ts";
import { pkgScripts } from "../../src/agent/package/pkg/contents.ts";
import { architectureIn } from "../../src/agent/package/program.ts";
import { readPackage } from "../../src/packages/read.ts";
import { needAgentFile } from "../support/agent-file.ts";
import { runCli } from "../support/cli.ts";
import { programOf } from "../support/programs.ts";
import { haveProgram } from "../support/tools.ts";

let all: string;
let folder: string;
beforeAll(async () => {
  await needAgentFile();
  all = await mkdtemp(join(tmpdir(), "svc-installers-"));
  await writeFile(join(all, "secret"), "the secret\n");
});
beforeEach(async () => {
  folder = await mkdtemp(join(all, "one-"));
});
afterAll(() => rm(all, { recursive: true, force: true }));

const setup: PackageSetup = {
  version: "1.0.0-rc.1",
  program: { node: "/usr/local/bin/node", agent: "the agent\n" },
  serverUrl: "https://svc.example.com",
  enrollSecret: "secret",
  ca: "the authority\n",
  pins: ["ab".repeat(32)],
  stateDir: null,
  runsScripts: false,
  signsRequests: true,
  identityKey: "p256",
};
const windows: PackageSetup = {
  ...setup,
  program: { node: "C:\\Program Files\\nodejs\\node.exe", agent: "the agent\n" },
};

const built = async (type: PackageType, of: PackageSetup, name: string = type): Promise<string> => {
  const file = join(folder, `${name}.${type}`);
  await buildPackage(type, of, file, 1_600_000_000);
  return file;
};

const infoOf = async (file: string) => {
  const bytes = await readFile(file);
  return readPackage({ name: file, size: bytes.length, read: async (start, end) => bytes.subarray(start, end) });
};

const run = (program: string, args: readonly string[], cwd = folder) =>
  execFileSync(program, args, { encoding: "utf8", cwd, env: { ...process.env, TZ: "UTC" } });

const packageCommand = (words: readonly string[]) =>
  runCli([
    ...["agent", "package", "--server-url", "https://svc.example.com", "--enroll-secret-file", join(all, "secret")],
    ...words,
  ]);

/** Runs the work with this PATH. */
async function withPath<T>(path: string, work: () => Promise<T>): Promise<T> {
  const before = process.env.PATH;
  process.env.PATH = path;
  try {
    return await work();
  } finally {
    process.env.PATH = before;
  }
}

const isLinux = process.platform === "linux";

describe.skipIf(!isLinux)("an installer package for macOS", () => {
  const hasTar = isLinux && haveProgram("bsdtar", "libarchive-tools");

  it.skipIf(!hasTar)("is a product archive with one component, and equal for equal input", async () => {
    const file = await built("pkg", setup);
    expect((await readFile(file)).equals(await readFile(await built("pkg", setup, "again")))).toBe(true);
    // The package contains the secret.
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(run("bsdtar", ["-tf", file]).trim().split("\n")).toEqual([
      "Distribution",
      "svc-agent.pkg",
      "svc-agent.pkg/PackageInfo",
      "svc-agent.pkg/Scripts",
    ]);
    run("bsdtar", ["-xf", file]);
    const listed = run("bsdtar", ["-tvf", "svc-agent.pkg/Scripts"]);
    expect(listed).toMatch(/^-rw------- +1 (root|0) +(root|0) +7 Sep 13 +2020 \.\/secret$/m);
    expect(listed).toMatch(/^-rwxr-xr-x .* \.\/postinstall$/m);
    expect(await infoOf(file)).toMatchObject({
      kind: "pkg",
      platform: "darwin",
      name: "svc-agent",
      version: "1.0.0-rc.1",
      bundleIdentifier: "com.svc.agent",
      packageIds: ["com.svc.agent"],
    });
  });

  it.skipIf(!hasTar)("has a script that installs the agent, which runs where it was put", async () => {
    const file = join(folder, "agent.pkg");
    const state = "/var/lib/it's; $(touch x) $here/y";
    const words = ["--type", "pkg", "--file", file, "--node", process.execPath, "--state-dir", state];
    const { exitCode, stderr } = await packageCommand(words);
    expect([exitCode, stderr]).toEqual([0, `wrote ${file}: it contains the enroll secret\n`]);
    run("bsdtar", ["-xf", file]);
    await mkdir(join(folder, "scripts"));
    run("bsdtar", ["-xf", "../svc-agent.pkg/Scripts"], join(folder, "scripts"));
    const disk = join(folder, "a disk");
    // Arguments that the system passes: the package, where it is installed, and on which disk.
    run(join(folder, "scripts/postinstall"), [file, "/", disk]);
    expect(await readFile(join(disk, "etc/svc-agent/secret"), "utf8")).toBe("the secret\n");
    expect((await stat(join(disk, "etc/svc-agent/secret"))).mode & 0o777).toBe(0o600);
    // The service of this system, because the agent runs here.
    const unit = await readFile(join(disk, "etc/systemd/system/svc-agent.service"), "utf8");
    expect(unit).toContain(`"/opt/svc-agent/agent.mjs" "run" "--server-url" "https://svc.example.com"`);
    expect(unit).toContain(`"--state-dir" "/var/lib/it's; $$(touch x) $$here/y"`);
    expect(run(process.execPath, [join(disk, "opt/svc-agent/agent.mjs"), "--version"])).toMatch(/^\d+\.\d+\.\d+/);
  });

  it("reports Node that is missing, and passes everything on to the agent's own command", async () => {
    const own = { ...setup, program: { node: join(folder, "node"), agent: "the agent\n" } };
    for (const { name, content, mode } of pkgScripts(own)) await writeFile(join(folder, name), content, { mode });
    expect(() => run("./postinstall", ["package", "/", folder])).toThrow(`${join(folder, "node")} is missing`);
    await writeFile(join(folder, "node"), `#!/bin/sh\n[ "$1" = -e ] || printf '%s\\n' "$@"\n`, { mode: 0o755 });
    expect(run("./postinstall", ["package", "/", folder]).trim().split("\n")).toEqual([
      join(folder, "opt/svc-agent/agent.mjs"),
      "install",
      "--restart",
      "--server-url=https://svc.example.com",
      `--enroll-secret-file=${join(folder, "secret")}`,
      `--ca-file=${join(folder, "ca.pem")}`,
      `--pin=${"ab".repeat(32)}`,
      "--no-scripts",
      "--sign-requests",
      "--identity-key=p256",
      `--root=${folder}`,
    ]);
  });

  it("is built with Apple's tools where they are", async () => {
    const note = (name: string, last: string) =>
      `#!/bin/sh\nprintf '%s ' ${name} "$@" >> ${join(folder, "calls")}\necho >> ${join(folder, "calls")}\n${last}\n`;
    const tools = join(folder, "tools");
    await mkdir(tools);
    // The last argument is the file to write.
    const write = 'for file; do :; done; case "$file" in --version) ;; *) echo made > "$file" ;; esac';
    await writeFile(join(tools, "pkgbuild"), note("pkgbuild", write));
    await writeFile(
      join(tools, "productbuild"),
      note("productbuild", `ls -l "$4"/../scripts >> ${join(folder, "calls")}; ${write}`),
    );
    for (const name of ["pkgbuild", "productbuild"]) await chmod(join(tools, name), 0o755);
    const file = await withPath(`${tools}${delimiter}${process.env.PATH}`, () => built("pkg", setup));
    expect(await readFile(file, "utf8")).toBe("made\n");
    const calls = await readFile(join(folder, "calls"), "utf8");
    expect(calls).toMatch(
      /^pkgbuild --root \S+ --scripts \S+ --identifier com\.svc\.agent --version 1\.0\.0-rc\.1 \S+svc-agent\.pkg $/m,
    );
    expect(calls).toMatch(/^productbuild --distribution \S+Distribution --package-path \S+ \S+ $/m);
    expect(calls).toMatch(/^-rw------- .* secret$/m);
  });
});

describe.skipIf(!isLinux)("an installer package for Windows", () => {
  const hasTools = isLinux && haveProgram("wixl", "wixl") && haveProgram("msibuild", "msitools");
  const rowsOf = (file: string, table: string): string[][] =>
    run("msiinfo", ["export", file, table])
      .trim()
      .split(/\r?\n/)
      .slice(3)
      .map((line) => line.split("\t"));

  it.skipIf(!hasTools)("has the agent, and its setup where only administrators read it", async () => {
    const file = await built("msi", windows);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    run("msiextract", [file]);
    expect(await readFile(join(folder, "svc-agent/agent.mjs"), "utf8")).toBe("the agent\n");
    expect(await readFile(join(folder, "svc-agent/setup/secret"), "utf8")).toBe("secret\r\n");
    expect(await readFile(join(folder, "svc-agent/setup/ca.pem"), "utf8")).toBe("the authority\n");
    expect(await readFile(join(folder, "svc-agent/setup/install.cmd"), "utf8")).toBe(installScript(windows));
    expect(await readFile(join(folder, "svc-agent/setup/uninstall.cmd"), "utf8")).toBe(uninstallScript(windows));
    const directories = Object.fromEntries(rowsOf(file, "Directory").map(([name, ...rest]) => [name, rest]));
    expect(directories).toMatchObject({
      INSTALLDIR: ["ProgramFiles64Folder", "svc-agent"],
      SETUPDIR: ["INSTALLDIR", "setup"],
    });
    expect(rowsOf(file, "MsiLockPermissionsEx").map((row) => row.slice(1, 4))).toEqual(
      expect.arrayContaining([
        ["SETUPDIR", "CreateFolder", "D:P(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)"],
        ["secret", "File", "D:P(A;;FA;;;SY)(A;;FA;;;BA)"],
      ]),
    );
    expect(rowsOf(file, "CreateFolder")).toEqual([["SETUPDIR", "Setup"]]);
  });

  it.skipIf(!hasTools)("installs and removes the agent as the system, and undoes what fails", async () => {
    const file = await built("msi", windows);
    const order = Object.fromEntries(
      rowsOf(file, "InstallExecuteSequence").map(([name, condition, at]) => [name, { condition, at: Number(at) }]),
    );
    const before = (one: string, other: string) =>
      expect(order[one]!.at, `${one} before ${other}`).toBeLessThan(order[other]!.at);
    before("FindRelatedProducts", "LaunchConditions");
    before("InstallInitialize", "RemoveExistingProducts");
    before("RemoveExistingProducts", "UndoUninstall");
    before("UndoUninstall", "Uninstall");
    before("Uninstall", "RemoveFiles");
    before("InstallFiles", "UndoInstall");
    before("UndoInstall", "Install");
    before("Install", "InstallFinalize");
    expect(order.Install!.condition).toBe('NOT REMOVE="ALL"');
    expect(order.Uninstall!.condition).toBe('REMOVE="ALL"');
    const actions = Object.fromEntries(rowsOf(file, "CustomAction").map(([name, ...rest]) => [name, rest]));
    // A command (34), deferred (1024) or on rollback (1280), as the system (2048); 64: it may fail.
    expect(actions.Install!.slice(0, 3)).toEqual([
      String(34 + 1024 + 2048),
      "SETUPDIR",
      '"[System64Folder]cmd.exe" /d /s /c ""[#install.cmd]""',
    ]);
    expect(actions.Uninstall![0]).toBe(String(34 + 1024 + 2048 + 64));
    for (const name of ["UndoInstall", "UndoUninstall"]) expect(actions[name]![0]).toBe(String(34 + 1280 + 2048 + 64));
  });

  it.skipIf(!hasTools)("replaces older versions, and itself with another setup", async () => {
    const [file, other] = [await built("msi", windows), await built("msi", { ...windows, enrollSecret: "new" }, "new")];
    const [info, otherInfo] = [await infoOf(file), await infoOf(other)];
    expect(info).toMatchObject({ kind: "msi", platform: "windows", name: "svc-agent", version: "1.0.0" });
    expect(otherInfo.upgradeCode).toBe(info.upgradeCode);
    expect(otherInfo.packageIds).not.toEqual(info.packageIds);
    expect((await infoOf(await built("msi", windows, "again"))).packageIds).toEqual(info.packageIds);
    const upgrades = rowsOf(file, "Upgrade");
    // 768: including both versions; 2: is only detected.
    expect(upgrades).toContainEqual([info.upgradeCode, "0.0.0", "1.0.0", "", "768", "", "OLDER"]);
    expect(upgrades).toContainEqual([info.upgradeCode, "1.0.0", "", "", "2", "", "NEWER"]);
    expect(rowsOf(file, "LaunchCondition")[0]![0]).toBe("Installed OR NOT NEWER");
    expect(run("msiinfo", ["suminfo", file])).toContain("Template: x64;1033");
  });

  it.skipIf(!hasTools)("has an executable instead of the agent's file", async () => {
    const program = join(folder, "agent.exe");
    await writeFile(program, programOf("windows", 0x8664));
    const file = join(folder, "own.msi");
    const { exitCode, stderr } = await packageCommand(["--type", "msi", "--program", program, "--file", file]);
    expect([exitCode, stderr]).toEqual([0, `wrote ${file}: it contains the enroll secret\n`]);
    run("msiextract", [file]);
    expect((await readFile(join(folder, "svc-agent/svc-agent.exe"))).equals(programOf("windows", 0x8664))).toBe(true);
    const script = await readFile(join(folder, "svc-agent/setup/install.cmd"), "utf8");
    expect(script).toContain('\r\n"%~dp0..\\svc-agent.exe" install --restart "--server-url=https://svc.example.com" ');
    expect(script).not.toContain("Node.js");
  });

  it("writes words that batch files do not change", () => {
    const script = installScript({ ...windows, stateDir: "D:\\100%\\", serverUrl: "https://a.example/?b=1&c=%41" });
    expect(script).toContain('"--state-dir=D:\\100%%\\\\"');
    expect(script).toContain('"--server-url=https://a.example/?b=1&c=%%41"');
    expect(() => installScript({ ...windows, stateDir: 'D:\\"&calc' })).toThrow(
      "--state-dir: an msi takes no quotation",
    );
    expect(script.split("\r\n").every((line) => !line.includes("\n"))).toBe(true);
  });

  it("has versions of three numbers with limits, and codes that follow from the content", () => {
    expect(productVersion("1.20.300-rc.1")).toBe("1.20.300");
    expect(() => productVersion("256.0.0")).toThrow("256.0.0 is no version of an msi");
    expect(() => productVersion("1.0")).toThrow("1.0 is no version of an msi");
    expect(guidOf("a", ["bc", "d"])).toMatch(
      /^\{[0-9A-F]{8}-[0-9A-F]{4}-8[0-9A-F]{3}-[89AB][0-9A-F]{3}-[0-9A-F]{12}\}$/,
    );
    expect(guidOf("a", ["bc", "d"])).toBe(guidOf("a", ["bc", "d"]));
    expect(guidOf("a", ["bc", "d"])).not.toBe(guidOf("a", ["b", "cd"]));
  });

  it("names the Debian package of a tool that is missing", async () => {
    await expect(withPath(folder, () => built("msi", windows))).rejects.toMatchObject({
      message: "wixl is not installed",
      hint: "On Debian and Ubuntu: apt-get install wixl",
    });
    await writeFile(join(folder, "wixl"), "#!/bin/sh\n", { mode: 0o755 });
    await expect(withPath(folder, () => built("msi", windows))).rejects.toMatchObject({
      message: "msibuild is not installed",
      hint: "On Debian and Ubuntu: apt-get install msitools",
    });
    await expect(stat(join(folder, "msi.msi"))).rejects.toThrow("ENOENT");
  });
});

describe("the command for installer packages", () => {
  it("recognizes the programs of hosts", () => {
    expect(architectureIn(programOf("macos", 0x0100000c), "pkg")).toBe("arm64");
    expect(architectureIn(programOf("windows", 0xaa64), "msi")).toBe("arm64");
    for (const [bytes, type] of [
      [programOf("macos", 0x0100000c), "msi"],
      [programOf("windows", 0x8664), "pkg"],
      [programOf("windows", 0x14c), "msi"],
      [programOf("windows", 0x8664).subarray(0, 0x82), "msi"],
      [Buffer.alloc(0), "pkg"],
    ] as const)
      expect(() => architectureIn(bytes, type)).toThrow("--program: the file is no program for");
  });

  it("names files by version and architecture", () => {
    const whole = { executable: new Uint8Array(), arch: "arm64" };
    expect(packageName("pkg", "1.0.0", setup.program)).toBe("svc-agent-1.0.0.pkg");
    expect(packageName("pkg", "1.0.0", whole)).toBe("svc-agent-1.0.0-arm64.pkg");
    expect(packageName("msi", "1.0.0", whole)).toBe("svc-agent-1.0.0-arm64.msi");
  });

  it.skipIf(!isLinux)("refuses what does not fit the hosts' system", async () => {
    const refusals: readonly (readonly [readonly string[], string])[] = [
      [["--type", "msi", "--node", "/usr/bin/node"], "--node: give the full path, such as C:\\Program Files"],
      [["--type", "msi", "--state-dir", "/var/lib/x"], "--state-dir: give the full path, such as D:\\"],
      [["--type", "pkg", "--state-dir", "state"], "--state-dir: give the full path, such as /"],
      [["--type", "pkg", "--with-node"], "--with-node: this machine is no macOS host"],
      [["--type", "msi", "--with-node"], "--with-node: this machine is no Windows host"],
      [["--type", "deb", "--program", "x"], "--program needs --type pkg or msi"],
      [["--type", "pkg", "--program", join(all, "secret")], "--program: the file is no program for macOS"],
    ];
    for (const [words, reason] of refusals) {
      const { exitCode, stderr } = await packageCommand([...words, "--file", join(folder, "no")]);
      expect([exitCode, stderr], words.join(" ")).toEqual([2, expect.stringContaining(reason)]);
    }
    const missing = await packageCommand(["--type", "pkg", "--program", join(folder, "no"), "--file", "x"]);
    expect([missing.exitCode, missing.stderr]).toEqual([1, expect.stringContaining("cannot be read")]);
    await expect(stat(join(folder, "no"))).rejects.toThrow("ENOENT");
  });
});
