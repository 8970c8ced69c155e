// The agent and Node as one program: it needs no Node on the host.
import { execFile, execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { NotElf, withNote } from "../../src/agent/package/elf.ts";
import { needAgentFile } from "../support/agent-file.ts";
import { runCli } from "../support/cli.ts";
import { InstallStandIn } from "./support/install-server.ts";

let folder: string;
/** Without a setup, and with one. */
let bare: string;
let whole: string;
let server: InstallStandIn;
let serverUrl: string;

beforeAll(async () => {
  await needAgentFile();
  folder = await mkdtemp(join(tmpdir(), "svc-executable-"));
  server = new InstallStandIn();
  serverUrl = await server.start();
  await writeFile(join(folder, "secret"), "the secret\n");
  bare = join(folder, "bare");
  whole = join(folder, "whole");
  const words = ["agent", "package", "--type", "sea", "--file"];
  const first = await runCli([...words, bare], { env: {} });
  expect([first.exitCode, first.stderr]).toEqual([0, `wrote ${bare}\n`]);
  const given = ["--server-url", serverUrl, "--enroll-secret-file", join(folder, "secret"), "--state-dir"];
  const second = await runCli([...words, whole, ...given, join(folder, "state")]);
  expect([second.exitCode, second.stderr]).toEqual([0, `wrote ${whole}: it contains the enroll secret\n`]);
});
afterAll(async () => {
  server?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** With no Node on the PATH. */
const start = (file: string, args: readonly string[]) =>
  new Promise<{ code: number; output: string }>((resolve) => {
    execFile(file, args, { cwd: folder, env: { PATH: "/nowhere" } }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), output: stdout + stderr }),
    );
  });

describe.skipIf(process.platform !== "linux")("the agent as one program", () => {
  it("explains itself, and can be read only by its owner", async () => {
    expect((await stat(whole)).mode & 0o777).toBe(0o700);
    const { version } = JSON.parse(await readFile("package.json", "utf8"));
    expect(await start(bare, ["--version"])).toEqual({ code: 0, output: `${version}\n` });
    expect((await start(bare, ["--help"])).output).toContain("svc-agent install --server-url URL");
    expect(await start(bare, ["run"])).toMatchObject({ code: 2, output: expect.stringContaining("--server-url URL") });
    expect((await start(bare, ["fly"])).output).toContain("`svc-agent --help` lists them");
  });

  it("enrolls with the setup that it contains, answers a query and installs", async () => {
    server.offers.set("one", {
      pre_install_condition: "SELECT hostname FROM system_info",
      install_script: 'cat "$INSTALLER_PATH"',
    });
    const child = execFile(whole, ["run"], { cwd: folder, env: { PATH: "/usr/bin:/bin" } });
    const ended = new Promise((resolve) => child.once("exit", resolve));
    try {
      await expect
        .poll(() => server.results)
        .toEqual([
          expect.objectContaining({
            pre_install_condition_output: expect.stringContaining('[{"hostname":"'),
            install_script_output: "the package",
          }),
        ]);
    } finally {
      child.kill("SIGTERM");
    }
    expect(await ended).toBe(0);
  });

  it("installs itself with the setup that it contains, unless the flags name another server", async () => {
    const root = join(folder, "root");
    expect(await start(whole, ["install", "--root", root])).toMatchObject({ code: 0 });
    const copy = join(root, "opt/svc-agent/svc-agent");
    expect((await stat(copy)).mode & 0o777).toBe(0o700);
    const unit = () => readFile(join(root, "etc/systemd/system/svc-agent.service"), "utf8");
    expect(await unit()).toContain(`ExecStart="/opt/svc-agent/svc-agent" "run" "--server-url" "${serverUrl}"`);
    const secretFile = join(root, "etc/svc-agent/secret");
    expect([await readFile(secretFile, "utf8"), (await stat(secretFile)).mode & 0o777]).toEqual([
      "the secret\n",
      0o600,
    ]);
    // From its own place it does not copy itself.
    expect((await start(copy, ["install", "--root", root])).output).toContain("svc-agent.service: unchanged");
    const other = join(folder, "other");
    await writeFile(other, "another secret\n");
    const flags = ["--server-url", "https://other.example.com", "--enroll-secret-file", other];
    expect(await start(copy, ["install", "--root", root, ...flags])).toMatchObject({ code: 0 });
    expect(await unit()).toContain('"--server-url" "https://other.example.com"');
    expect(await readFile(secretFile, "utf8")).toBe("another secret\n");
    expect((await start(copy, ["uninstall", "--root", root])).output).toContain(`${copy}: removed`);
    await expect(stat(copy)).rejects.toThrow("ENOENT");
  });

  it("hands over to a newer version that it has fetched", async () => {
    const state = join(folder, "newer");
    await mkdir(join(state, "updates"), { recursive: true });
    const newer = 'import { isSea } from "node:sea";\nconsole.log("newer", isSea());\n';
    const sha256 = createHash("sha256").update(newer).digest("hex");
    await writeFile(join(state, "updates", `agent-${sha256}.mjs`), newer);
    await writeFile(join(state, "updates", "state.json"), JSON.stringify({ current: { version: "99.0.0", sha256 } }));
    const { code, output } = await start(whole, ["run", "--state-dir", state]);
    expect([code, output]).toEqual([0, expect.stringContaining("newer true\n")]);
  });

  it("needs a server and a secret in other packages, and Node's own program", async () => {
    const noServer = await runCli(["agent", "package", "--type", "tar", "--with-node"], { env: {} });
    expect([noServer.exitCode, noServer.stderr]).toEqual([2, expect.stringContaining("--server-url URL is required")]);
    const part = await runCli(["agent", "package", "--type", "sea", "--ca-file", join(folder, "none")], { env: {} });
    expect([part.exitCode, part.stderr]).toEqual([2, expect.stringContaining("--server-url URL is required")]);
    const both = await runCli(["agent", "package", "--type", "tar", "--with-node", "--node", "/usr/bin/node"]);
    expect(both.exitCode).toBe(2);
  });

  it("is in a package with --with-node", async () => {
    const file = join(folder, "agent.tar.gz");
    const given = ["--server-url", serverUrl, "--enroll-secret-file", join(folder, "secret")];
    const words = ["agent", "package", "--type", "tar", "--with-node", "--file", file, ...given];
    expect((await runCli(words)).exitCode).toBe(0);
    const root = join(folder, "unpacked");
    await mkdir(root);
    execFileSync("tar", ["-xzf", file, "-C", root]);
    expect((await start(join(root, "opt/svc-agent/svc-agent"), ["--version"])).code).toBe(0);
    expect(await readFile(join(root, "etc/systemd/system/svc-agent.service"), "utf8")).toContain(
      'ExecStart="/opt/svc-agent/svc-agent" "run"',
    );
  });
});

describe("a note in a program", () => {
  it.skipIf(process.platform !== "linux")("leaves the program as it works", async () => {
    const file = join(folder, "true");
    await writeFile(file, withNote(await readFile("/bin/true"), "EXAMPLE", Buffer.from("the data")));
    await chmod(file, 0o755);
    expect((await start(file, [])).code).toBe(0);
    const changed = await readFile(file);
    expect(changed.subarray(-8).toString()).toBe("the data");
  });

  it("is refused in what is no such program", () => {
    const elf = Buffer.alloc(200);
    elf.write("\x7fELF\x02\x01", "latin1");
    for (const bad of [Buffer.from("MZ"), Buffer.alloc(100), elf])
      expect(() => withNote(bad, "NAME", Buffer.alloc(1))).toThrow(NotElf);
    elf.writeBigUInt64LE(0xffff_ffff_ffff_ffffn, 0x20);
    expect(() => withNote(elf, "NAME", Buffer.alloc(1))).toThrow(NotElf);
  });
});
