// Packages that install the agent on Linux hosts.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildPackage, type PackageType, packageName } from "../../src/agent/package/build.ts";
import { debFiles, type PackageSetup, packageFiles, rpmSpec } from "../../src/agent/package/files.ts";
import { needAgentFile } from "../support/agent-file.ts";
import { runCli } from "../support/cli.ts";
import { haveProgram } from "../support/tools.ts";

let folder: string;
beforeAll(async () => {
  await needAgentFile();
  folder = await mkdtemp(join(tmpdir(), "svc-package-"));
  await writeFile(join(folder, "secret"), "the secret\n");
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const setup: PackageSetup = {
  version: "1.0.0-rc.1",
  program: { node: "/usr/bin/node", agent: "the agent\n" },
  serverUrl: "https://svc.example.com",
  enrollSecret: "secret",
  ca: "the authority\n",
  pins: [],
  stateDir: "/var/lib/it's; touch x",
  runsScripts: true,
};

async function make(type: "deb" | "tar"): Promise<string> {
  const file = join(folder, `agent.${type}`);
  const words = ["agent", "package", "--type", type, "--server-url", "https://svc.example.com", "--file", file];
  const { exitCode, stderr } = await runCli([...words, "--enroll-secret-file", join(folder, "secret")]);
  expect([exitCode, stderr]).toEqual([0, expect.stringContaining(`wrote ${file}`)]);
  // The package contains the secret.
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  return file;
}

/** Twice, with other umasks and at other times. */
async function expectSame(type: PackageType): Promise<string> {
  const [first, second] = [join(folder, `1.${type}`), join(folder, `2.${type}`)];
  await buildPackage(type, setup, first, 1_600_000_000);
  const mask = process.umask(0o077);
  await buildPackage(type, setup, second, 1_600_000_000).finally(() => process.umask(mask));
  expect((await readFile(first)).equals(await readFile(second))).toBe(true);
  return first;
}

const isLinux = process.platform === "linux";

describe.skipIf(!isLinux)("a package of the agent", () => {
  it("has the agent, its service, and a secret that only root can read, as a .tar.gz", async () => {
    const list = execFileSync("tar", ["-tvzf", await make("tar")], { encoding: "utf8" });
    expect(list).toMatch(/^drwxr-xr-x root\/root .* opt\/svc-agent\/$/m);
    expect(list).toMatch(/^-rwxr-xr-x root\/root .* opt\/svc-agent\/agent\.mjs$/m);
    expect(list).toMatch(/^-rw------- root\/root .* etc\/svc-agent\/secret$/m);
    expect(list).toMatch(/^-rw-r--r-- root\/root .* etc\/systemd\/system\/svc-agent\.service$/m);
    expect(list).not.toContain("DEBIAN");
    const times = execFileSync("tar", ["-tvzf", await expectSame("tar")], { encoding: "utf8", env: { TZ: "UTC" } });
    expect(times.trim().split("\n")).toEqual(
      times
        .trim()
        .split("\n")
        .map(() => expect.stringContaining(" 2020-09-13 12:26 ")),
    );
  });

  it.skipIf(spawnSync("dpkg-deb", ["--version"]).error !== undefined)("is read by dpkg, as a .deb", async () => {
    const file = await make("deb");
    const fields = execFileSync("dpkg-deb", ["--field", file, "Package", "Depends"], { encoding: "utf8" });
    expect(fields).toBe("Package: svc-agent\nDepends: nodejs (>= 20.19)\n");
    const list = execFileSync("dpkg-deb", ["--contents", file], { encoding: "utf8" });
    expect(list).toMatch(/^-rw------- root\/root .* \.\/etc\/svc-agent\/secret$/m);
    const out = join(folder, "out");
    execFileSync("dpkg-deb", ["--raw-extract", file, out]);
    expect(await readFile(join(out, "etc/svc-agent/secret"), "utf8")).toBe("the secret\n");
    expect(await readFile(join(out, "etc/systemd/system/svc-agent.service"), "utf8")).toContain(
      'ExecStart="/usr/bin/node" "/opt/svc-agent/agent.mjs" "run" "--server-url" "https://svc.example.com"',
    );
    for (const name of ["postinst", "prerm", "postrm"])
      expect(spawnSync("sh", ["-n", join(out, "DEBIAN", name)]).status, name).toBe(0);
    const again = await expectSame("deb");
    expect(execFileSync("dpkg-deb", ["--field", again, "Version"], { encoding: "utf8" })).toBe("1.0.0~rc.1\n");
  });

  it.skipIf(!isLinux || !haveProgram("rpmbuild", "rpm"))("is read by rpm, as an .rpm", async () => {
    const file = await expectSame("rpm");
    const rpm = (...args: string[]) => execFileSync("rpm", ["-qp", ...args, file], { encoding: "utf8" });
    expect(rpm("--qf", "%{NAME} %{VERSION} %{ARCH}")).toBe("svc-agent 1.0.0~rc.1 noarch");
    const list = rpm("-lv");
    expect(list).toMatch(/^-rwxr-xr-x +1 root +root .* \/opt\/svc-agent\/agent\.mjs$/m);
    expect(list).toMatch(/^-rw------- +1 root +root .* \/etc\/svc-agent\/secret$/m);
    // Folders belong to the package, so that nothing is left when it is removed.
    expect(list).toMatch(/^drwxr-xr-x .* \/opt\/svc-agent$/m);
    expect(list).toMatch(/^drwxr-xr-x .* \/etc\/svc-agent$/m);
    expect(rpm("--scripts")).toContain("systemctl enable svc-agent");
    expect(rpm("-R")).toContain("nodejs >= 20.19");
  });

  it("removes only its own folder when it is purged, whatever that is called", async () => {
    const script = debFiles(setup)
      .find(({ path }) => path === "/DEBIAN/postrm")!
      .content.toString();
    const calls = `rm() { printf '%s\\n' "$@"; }; set -- purge; ${script.replace(/^#!.*\n/, "")}`;
    expect(execFileSync("sh", ["-c", calls], { encoding: "utf8" })).toBe("-rf\n--\n/var/lib/it's; touch x\n");
    expect(rpmSpec(setup, "/tree")).not.toContain("touch x");
    expect(packageFiles(setup).map(({ path, mode }) => [path, mode])).toContainEqual(["/etc/svc-agent/secret", 0o600]);
  });

  it("needs the full path of Node, a time that is one, and a folder that is there", async () => {
    const secret = ["--enroll-secret-file", join(folder, "secret"), "--server-url", "https://svc.example.com"];
    const run = (words: string[], env = {}) => runCli(["agent", "package", ...secret, ...words], { env });
    const noNode = await run(["--type", "tar", "--node", "node"]);
    expect([noNode.exitCode, noNode.stderr]).toEqual([2, expect.stringContaining("--node: give the full path")]);
    const noTime = await run(["--type", "tar"], { SOURCE_DATE_EPOCH: "today" });
    expect([noTime.exitCode, noTime.stderr]).toEqual([2, expect.stringContaining("SOURCE_DATE_EPOCH: today")]);
    const file = join(folder, "nowhere", "agent.tar.gz");
    const noFolder = await run(["--type", "tar", "--file", file]);
    expect([noFolder.exitCode, noFolder.stderr]).toEqual([1, expect.stringContaining(`${file} cannot be written`)]);
  });

  it("has the name that each system's tools give", () => {
    const { program } = setup;
    expect(packageName("deb", "1.0.0-rc.1", program)).toBe("svc-agent_1.0.0~rc.1_all.deb");
    expect(packageName("rpm", "1.0.0", program)).toBe("svc-agent-1.0.0-1.noarch.rpm");
    expect(packageName("tar", "1.0.0", program)).toBe("svc-agent-1.0.0.tar.gz");
    const whole = { executable: new Uint8Array(), arch: "arm64" };
    expect(packageName("deb", "1.0.0", whole)).toBe("svc-agent_1.0.0_arm64.deb");
    expect(packageName("rpm", "1.0.0", whole)).toBe("svc-agent-1.0.0-1.aarch64.rpm");
    expect(packageName("tar", "1.0.0", whole)).toBe("svc-agent-1.0.0-linux-arm64.tar.gz");
  });

  it("says which Debian package has a tool that is missing", async () => {
    const path = process.env.PATH;
    process.env.PATH = folder;
    const built = buildPackage("rpm", setup, join(folder, "no.rpm"), 1).finally(() => {
      process.env.PATH = path;
    });
    await expect(built).rejects.toMatchObject({
      message: "rpmbuild is not installed",
      hint: "On Debian and Ubuntu: apt-get install rpm",
    });
    await expect(stat(join(folder, "no.rpm"))).rejects.toThrow("ENOENT");
  });
});
