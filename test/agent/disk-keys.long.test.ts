// Keys of disks that are encrypted with LUKS, with the real cryptsetup on a file.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { sessionIn } from "../../src/agent/disk-keys/ask.ts";
import { DiskKeyEscrow } from "../../src/agent/disk-keys/escrow.ts";
import { type LuksKey, luksBelow } from "../../src/agent/disk-keys/luks.ts";
import { haveProgram } from "../support/tools.ts";

const PASSPHRASE = "what the person knows";
let folder: string;
let disk: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-luks-"));
  disk = join(folder, "disk");
});
afterEach(() => rm(folder, { recursive: true }));

async function encrypt(): Promise<void> {
  await writeFile(disk, "");
  await truncate(disk, 32 * 1024 * 1024);
  const fast = ["--pbkdf", "pbkdf2", "--pbkdf-force-iterations", "1000"];
  execFileSync("cryptsetup", ["luksFormat", "--type", "luks2", "--batch-mode", ...fast, "--key-file", "-", disk], {
    input: PASSPHRASE,
  });
}

const opens = (passphrase: string) =>
  spawnSync("cryptsetup", ["open", "--test-passphrase", "--key-file", "-", disk], { input: passphrase }).status === 0;

const slots = () =>
  Object.keys(
    JSON.parse(execFileSync("cryptsetup", ["luksDump", "--dump-json-metadata", disk], { encoding: "utf8" })).keyslots,
  );

/** What is in files for cryptsetup, also of other runs, which may have been killed. */
async function keysInFiles(): Promise<string[]> {
  const folders = (await readdir("/run")).filter((name) => name.startsWith("svc-agent-"));
  return Promise.all(folders.map((name) => readFile(join("/run", name, "key"), "utf8").catch(() => "")));
}

interface RunResult {
  readonly delivered: (LuksKey | { readonly client_error: string })[];
  readonly asked: string[];
  readonly lines: string[];
  start(): Promise<void>;
}

/** `answers`: what the person enters, one after the other; then nothing. */
function escrow(answers: readonly string[], failure?: Error): RunResult {
  const [delivered, asked, lines, left]: [RunResult["delivered"], string[], string[], string[]] = [
    [],
    [],
    [],
    [...answers],
  ];
  const made = new DiskKeyEscrow({
    server: {
      async deliverLuks(data) {
        if (failure !== undefined) throw failure;
        delivered.push(data);
      },
    },
    log: (level, message) => lines.push(`${level}: ${message}`),
    signal: new AbortController().signal,
    async ask({ text }) {
      asked.push(text);
      return left.shift() ?? null;
    },
    disk: async () => disk,
  });
  return { delivered, asked, lines, start: () => made.start() };
}

const noCryptsetup = process.platform !== "linux" || !haveProgram("cryptsetup", "cryptsetup-bin");

describe.skipIf(noCryptsetup)("a key of the disk", () => {
  it("is added with the passphrase of the person, and given to the server", async () => {
    await encrypt();
    const { delivered, asked, start, lines } = escrow(["wrong", PASSPHRASE]);
    // The server asks again while it runs.
    await Promise.all([start(), start()]);
    expect(asked).toEqual(["Passphrase of this computer's disk", "That was not the passphrase. Try again"]);
    expect(delivered).toEqual([
      { passphrase: expect.stringMatching(/^[\w-]{43}$/), salt: expect.stringMatching(/^[\w+/]+=*$/), key_slot: 1 },
    ]);
    const { passphrase } = delivered[0] as LuksKey;
    expect([opens(passphrase), opens(PASSPHRASE), slots()]).toEqual([true, true, ["0", "1"]]);
    expect(lines.join("\n")).not.toContain(passphrase);
    expect(await keysInFiles()).not.toContain(passphrase);
  });

  it("does not stay on the disk if the server did not get it", async () => {
    await encrypt();
    const { start, lines } = escrow([PASSPHRASE], new Error("status 500"));
    await start();
    expect(slots()).toEqual(["0"]);
    expect(lines).toEqual(["warn: disk encryption: status 500"]);
  });

  it("is refused with a reason that administrators see", async () => {
    const reasonFor = async (...answers: string[]) => {
      const made = escrow(answers);
      await made.start();
      return made.delivered;
    };
    await writeFile(disk, "no disk");
    expect(await reasonFor(PASSPHRASE)).toEqual([{ client_error: "the disk is not encrypted with LUKS 2" }]);
    await encrypt();
    expect(await reasonFor()).toEqual([{ client_error: "nobody entered the passphrase of the disk" }]);
    expect(await reasonFor("a", "b", "c", PASSPHRASE)).toEqual([
      { client_error: "the passphrase of the disk was wrong three times" },
    ]);
    expect(slots()).toEqual(["0"]);
  });
});

describe("where the system is", () => {
  it("is found below the file system", () => {
    const lsblk = (blockdevices: object[]) => JSON.stringify({ blockdevices });
    const partition = { path: "/dev/sda3", fstype: "crypto_LUKS", children: [{ path: "/dev/sda", fstype: null }] };
    const volume = {
      path: "/dev/mapper/vg-root",
      fstype: "ext4",
      children: [{ path: "/dev/mapper/crypt", fstype: "LVM2_member", children: [partition] }],
    };
    expect(luksBelow(lsblk([volume]))).toBe("/dev/sda3");
    expect(luksBelow(lsblk([{ path: "/dev/sda1", fstype: "ext4" }]))).toBeNull();
    expect(luksBelow("")).toBeNull();
  });

  it("asks in a session that can show a window", () => {
    const properties = "Name=grace\nUser=1000\nType=x11\nDisplay=:0\nActive=yes\n";
    expect(sessionIn(properties)).toEqual({ name: "grace", uid: "1000", display: ":0" });
    expect(sessionIn(properties.replace("x11", "tty"))).toBeNull();
    expect(sessionIn(properties.replace("Active=yes", "Active=no"))).toBeNull();
  });
});
