// Software that the agent installs: downloaded whole, installed once, rolled back where it fails. All scripts are harmless.
import { spawn } from "node:child_process";
import { createHash, randomBytes, randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { DownloadFailed, downloadPackage, fileNameIn } from "../../src/agent/installs/download.ts";
import { Connection } from "../../src/agent/net/connection.ts";
import { installAgent, recoverAndInstall } from "./support/install-agent.ts";
import { InstallStandIn, type Offer } from "./support/install-server.ts";

let stateDir: string;
let server: InstallStandIn;
let url: string;
let connection: Connection;
beforeEach(async () => {
  stateDir = await mkdtemp(join(tmpdir(), "svc-installs-"));
  server = new InstallStandIn();
  url = await server.start();
  connection = new Connection({ serverUrl: url, version: "1", pins: [] });
});
afterEach(async () => {
  await connection.close();
  server.stop();
  await rm(stateDir, { recursive: true, force: true });
});

const turn = (options = {}) => recoverAndInstall(connection, url, stateDir, options);

function offer(given: Offer): string {
  const id = randomUUID();
  server.offers.set(id, given);
  return id;
}

async function install(given: Offer, options = {}) {
  const id = offer(given);
  await turn(options);
  expect(server.results).toEqual([expect.objectContaining({ install_uuid: id })]);
  return server.results[0]!;
}

const runs = () => readFile(join(stateDir, "runs"), "utf8").catch(() => "");
const note = (word: string) => `echo ${word} >> ${stateDir}/runs`;

describe("an install", () => {
  it("downloads the package, and runs the install script with its path, then the post-install script", async () => {
    const result = await install({
      pre_install_condition: "SELECT 1 AS one",
      install_script: 'cat "$INSTALLER_PATH"; echo; basename "$INSTALLER_PATH"',
      post_install_script: "echo after; exit 0",
    });
    expect(result).toMatchObject({
      pre_install_condition_output: '[{"one":"1"}]',
      install_script_exit_code: 0,
      install_script_output: "the package\ntool_1.0_all.deb\n",
      post_install_script_exit_code: 0,
      post_install_script_output: "after\n",
    });
    expect(await readdir(join(stateDir, "installs"))).toEqual([`${result.install_uuid}.json`]);
  });

  it("reports null for steps that it has not", async () => {
    expect(await install({ install_script: "exit 0" })).toMatchObject({
      pre_install_condition_output: null,
      install_script_exit_code: 0,
      post_install_script_exit_code: null,
      post_install_script_output: null,
    });
  });

  it("ends before the download if the pre-install query returns no row, or fails", async () => {
    const given = { install_script: note("install") };
    expect(await install({ ...given, pre_install_condition: "SELECT 1 WHERE 0" })).toMatchObject({
      pre_install_condition_output: "",
      install_script_exit_code: null,
      install_script_output: null,
    });
    server.results.length = 0;
    expect(await install({ ...given, pre_install_condition: "SELECT * FROM no_table" })).toMatchObject({
      pre_install_condition_output: "",
      install_script_exit_code: -1,
      install_script_output: expect.stringContaining("no such table: no_table"),
    });
    expect([server.ranges, await runs()]).toEqual([[], ""]);
  });

  it("is over if the install script fails, and rolls nothing back then", async () => {
    const result = await install({
      install_script: "echo no; exit 4",
      post_install_script: note("post"),
      uninstall_script: note("uninstall"),
    });
    expect(result).toMatchObject({
      install_script_exit_code: 4,
      install_script_output: "no\n",
      post_install_script_exit_code: null,
    });
    expect(await runs()).toBe("");
  });

  it("is rolled back if the post-install script fails", async () => {
    const result = await install({
      install_script: note("install"),
      post_install_script: `${note("post")}; echo broken; exit 3`,
      uninstall_script: `${note("uninstall")}; echo removed; exit 0`,
    });
    expect(result).toMatchObject({ install_script_exit_code: 0, post_install_script_exit_code: 3 });
    expect(result.post_install_script_output).toMatch(/^broken\n\nRolled back: .* exit code 0\.\nremoved\n$/);
    expect(await runs()).toBe("install\npost\nuninstall\n");
    server.results.length = 0;
    const without = await install({ install_script: "exit 0", post_install_script: "exit 1" });
    expect(without.post_install_script_output).toContain("no uninstall script");
  });

  it("runs a package that is a script itself", async () => {
    server.fileName = "setup.sh";
    server.content = Buffer.from("#!/bin/sh\necho from the package\n");
    expect(await install({})).toMatchObject({
      install_script_exit_code: 0,
      install_script_output: "from the package\n",
    });
    server.results.length = 0;
    server.fileName = "tool.deb";
    expect(await install({})).toMatchObject({ install_script_exit_code: -1 });
  });

  it("is refused where scripts are disabled, without a download", async () => {
    expect(await install({ install_script: note("install") }, { runsScripts: false })).toMatchObject({
      install_script_exit_code: -2,
      install_script_output: "Scripts are disabled",
    });
    expect([server.ranges, await runs()]).toEqual([[], ""]);
  });

  it("that was cancelled does nothing, and leaves no files", async () => {
    const { runner, managed } = await installAgent(connection, url, stateDir);
    await managed.config();
    await runner.run(randomUUID());
    expect(server.results).toEqual([]);
  });

  it("goes on after the host had to enroll again", async () => {
    const id = offer({ install_script: note("install") });
    const { runner, managed } = await installAgent(connection, url, stateDir);
    await managed.config();
    server.forgetKeys();
    await runner.run(id);
    expect([server.results.length, server.enrollments]).toEqual([1, 2]);
  });

  it("delivers its result until the server has it, without installing again", async () => {
    const id = offer({ install_script: `${note("install")}; touch ${stateDir}/installed` });
    const { runner, managed } = await installAgent(connection, url, stateDir);
    await managed.config();
    const original = managed.deliverInstall.bind(managed);
    managed.deliverInstall = () => Promise.reject(new Error("down"));
    await expect(runner.run(id)).rejects.toThrow("down");
    await expect(runner.recover()).rejects.toThrow("down");
    managed.deliverInstall = original;
    await turn();
    // An older reply of the server may still name it.
    await runner.run(id);
    expect([server.results.length, await runs()]).toEqual([1, "install\n"]);
  });

  it("does not begin if it cannot be noted", async () => {
    const id = offer({ install_script: note("install") });
    // A file in the place of the folder: nothing can be written, as on a full disk.
    await writeFile(join(stateDir, "installs"), "");
    const { runner, managed } = await installAgent(connection, url, stateDir);
    await managed.config();
    await expect(runner.run(id)).rejects.toThrow();
    expect(await runs()).toBe("");
  });
});

describe("a download", () => {
  it("continues after each cut, also in another process of the agent", async () => {
    server.content = randomBytes(1_000_000);
    server.cutAfter = 300_000;
    offer({ install_script: `cmp "$INSTALLER_PATH" ${stateDir}/expected && ${note("install")}` });
    await writeFile(join(stateDir, "expected"), server.content);
    for (let i = 0; i < 3; i++) await expect(turn()).rejects.toThrow();
    await turn();
    expect(server.results).toEqual([expect.objectContaining({ install_script_exit_code: 0 })]);
    expect(server.ranges[0]).toBe("");
    expect(server.ranges.slice(1).every((range) => /^bytes=[1-9]\d*-$/.test(range))).toBe(true);
    expect(await runs()).toBe("install\n");
  });

  it("begins again if the package has changed meanwhile", async () => {
    server.content = randomBytes(600_000);
    server.cutAfter = 300_000;
    offer({ install_script: `cmp "$INSTALLER_PATH" ${stateDir}/expected` });
    await expect(turn()).rejects.toThrow();
    server.content = randomBytes(500_000);
    server.cutAfter = 1_000_000;
    await writeFile(join(stateDir, "expected"), server.content);
    await turn();
    expect(server.results).toEqual([expect.objectContaining({ install_script_exit_code: 0 })]);
  });

  it("with another digest is not installed", async () => {
    server.digest = "ab".repeat(32);
    const result = await install({ install_script: note("install") });
    expect(result.install_script_output).toMatch(/SHA-256 [0-9a-f]{64} instead of abab/);
    expect([result.install_script_exit_code, await runs()]).toEqual([-1, ""]);
  });

  it("is that of the details, if they have a digest", async () => {
    const other = { installer_sha256: "cd".repeat(32), install_script: note("install") };
    expect((await install(other)).install_script_output).toContain(`instead of ${"cd".repeat(32)}`);
    server.results.length = 0;
    const installer_sha256 = createHash("sha256").update(server.content).digest("hex").toUpperCase();
    server.digest = "";
    expect(await install({ ...other, installer_sha256 })).toMatchObject({ install_script_exit_code: 0 });
  });

  it("that came in parts and is damaged begins again", async () => {
    server.content = randomBytes(600_000);
    server.cutAfter = 300_000;
    const id = offer({ install_script: note("install") });
    await expect(turn()).rejects.toThrow();
    await writeFile(join(stateDir, "installs", `${id}.files`, "download"), randomBytes(300_000));
    server.cutAfter = 1_000_000;
    await expect(turn()).rejects.toThrow("SHA-256");
    await turn();
    expect(server.ranges).toEqual(["", "bytes=300000-", ""]);
    expect(await runs()).toBe("install\n");
  });

  it("is tried again while the server has problems, and not if it refuses", async () => {
    server.packageStatus = 503;
    offer({ install_script: note("install") });
    await expect(turn()).rejects.toThrow("status 503");
    expect(server.results).toEqual([]);
    server.packageStatus = 402;
    await turn();
    expect(server.results[0]!.install_script_output).toContain("status 402");
    expect(await runs()).toBe("");
  });

  it("does not begin where it is too large, or where the disk has no room", async () => {
    const folder = join(stateDir, "x");
    const id = offer({ install_script: "exit 0" });
    const { managed } = await installAgent(connection, url, stateDir);
    await managed.installDetails(id);
    const open = (headers: Record<string, string>) => managed.openPackage(7, headers, new AbortController().signal);
    await expect(downloadPackage({ open }, { folder, largest: 5 })).rejects.toThrow(/11 bytes; .* up to 5/);
    const full = downloadPackage({ open }, { folder, free: async () => 1_000 });
    await expect(full).rejects.toThrow(DownloadFailed);
    await expect(full).rejects.toThrow("Free some space");
    expect(await stat(join(folder, "download")).catch(() => null)).toBeNull();
  });

  it("has a name that stays in its folder", () => {
    const name = (text: string) => fileNameIn(`attachment; ${text}`);
    expect(name('filename="tool 1.0.msi"')).toBe("tool 1.0.msi");
    expect(name("filename=\"x.deb\"; filename*=UTF-8''%c3%a4%20b.deb")).toBe("ä b.deb");
    expect(name("filename*=UTF-8''..%2f..%2fetc%2fpasswd")).toBe("passwd");
    expect(name('filename=".."')).toBe("package");
    expect(name('filename="..\\..\\run.exe"')).toBe("run.exe");
    expect(name(`filename="${"x".repeat(300)}.deb"`)).toMatch(/^x{56}\.deb$/);
    expect(fileNameIn("")).toBe("package");
  });
});

describe("an agent that is killed", () => {
  const child = fileURLToPath(new URL("./support/install-child.ts", import.meta.url));

  /** Runs the agent until the condition holds, then kills it. */
  async function killWhen(isTime: () => Promise<boolean> | boolean): Promise<void> {
    const agent = spawn(process.execPath, ["--import", "tsx", child, url, stateDir], { stdio: "ignore" });
    const ended = new Promise<void>((resolve) => agent.once("exit", () => resolve()));
    try {
      await expect.poll(isTime, { timeout: 60_000 }).toBe(true);
    } finally {
      agent.kill("SIGKILL");
      await ended;
    }
  }

  it("during the install script reports it as failed, and does not install again", { timeout: 90_000 }, async () => {
    offer({ install_script: `${note("install")}; exec sleep 300`, uninstall_script: note("uninstall") });
    await killWhen(async () => (await runs()) !== "");
    await turn();
    await turn();
    expect(server.results).toEqual([
      expect.objectContaining({
        install_script_exit_code: -1,
        install_script_output: expect.stringContaining("not run again"),
        post_install_script_exit_code: null,
      }),
    ]);
    expect(await runs()).toBe("install\n");
  });

  it("during the post-install script rolls back, once", { timeout: 90_000 }, async () => {
    offer({
      install_script: note("install"),
      post_install_script: `${note("post")}; exec sleep 300`,
      uninstall_script: note("uninstall"),
    });
    await killWhen(async () => (await runs()).includes("post"));
    await turn();
    await turn();
    expect(server.results).toEqual([
      expect.objectContaining({
        install_script_exit_code: 0,
        post_install_script_exit_code: -1,
        post_install_script_output: expect.stringMatching(/not run again.*Rolled back/s),
      }),
    ]);
    expect(await runs()).toBe("install\npost\nuninstall\n");
  });

  it("during the roll-back does not roll back again", { timeout: 90_000 }, async () => {
    offer({
      install_script: note("install"),
      post_install_script: "exit 1",
      uninstall_script: `${note("uninstall")}; exec sleep 300`,
    });
    await killWhen(async () => (await runs()).includes("uninstall"));
    await turn();
    expect(server.results).toEqual([
      expect.objectContaining({
        post_install_script_exit_code: 1,
        post_install_script_output: expect.stringContaining("The agent stopped while the uninstall script"),
      }),
    ]);
    expect(await runs()).toBe("install\nuninstall\n");
  });

  it("during the download installs afterwards", { timeout: 90_000 }, async () => {
    server.content = randomBytes(600_000);
    server.cutAfter = 300_000;
    offer({ install_script: note("install") });
    await killWhen(() => server.ranges.length > 0 && existsSync(join(stateDir, "installs")));
    server.cutAfter = 1_000_000;
    await turn();
    expect(server.results).toEqual([expect.objectContaining({ install_script_exit_code: 0 })]);
    expect(await runs()).toBe("install\n");
  });
});
