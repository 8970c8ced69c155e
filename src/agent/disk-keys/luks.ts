// A key of the server's for a disk that is encrypted with LUKS: the person at this machine gives a passphrase, with which
// the agent adds a random one. See cryptsetup-luksAddKey(8).
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { outputOf } from "../tables/read.ts";
import type { Question } from "./ask.ts";

const MAX_ATTEMPTS = 3;
/** In memory, unlike /tmp. */
const MEMORY = "/run";

export interface LuksKey {
  readonly passphrase: string;
  readonly salt: string;
  readonly key_slot: number;
}

/** Why there is no key; the server shows it to administrators. */
export class NoKey extends Error {}

interface ProcessResult {
  readonly code: number;
  readonly output: string;
  readonly errors: string;
}

/** `input`: a passphrase, which never stands in the arguments. */
const cryptsetup = (args: readonly string[], input = ""): Promise<ProcessResult> =>
  new Promise((resolve, reject) => {
    const child = spawn("cryptsetup", args, { stdio: ["pipe", "pipe", "pipe"] });
    let [output, errors] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (part: string) => {
      output += part;
    });
    child.stderr.setEncoding("utf8").on("data", (part: string) => {
      errors += part;
    });
    child.once("error", () => reject(new NoKey("cryptsetup is not installed on this host")));
    child.once("close", (code) => resolve({ code: code ?? 1, output, errors: errors.trim() }));
    // The process may end before it has read all.
    child.stdin.on("error", () => {});
    child.stdin.end(input);
  });

type Slots = ReadonlyMap<number, string>;

/** The salts of the slots that are in use. */
async function slotsOf(device: string): Promise<Slots> {
  const { code, output } = await cryptsetup(["luksDump", "--dump-json-metadata", device]);
  if (code !== 0) throw new NoKey("the disk is not encrypted with LUKS 2");
  const { keyslots } = JSON.parse(output) as { keyslots: Record<string, { kdf?: { salt?: string } }> };
  return new Map(Object.entries(keyslots).map(([slot, { kdf }]) => [Number(slot), kdf?.salt ?? ""]));
}

async function askPassphrase(device: string, ask: (question: Question) => Promise<string | null>): Promise<string> {
  for (let tries = 1; tries <= MAX_ATTEMPTS; tries++) {
    const text = tries === 1 ? "Passphrase of this computer's disk" : "That was not the passphrase. Try again";
    const passphrase = await ask({ title: "Disk encryption key", text });
    if (passphrase === null) throw new NoKey("nobody entered the passphrase of the disk");
    const { code } = await cryptsetup(["open", "--test-passphrase", "--key-file", "-", device], passphrase);
    if (code === 0) return passphrase;
  }
  throw new NoKey("the passphrase of the disk was wrong three times");
}

/** A key in a slot of its own, and how to take it away again. Throws NoKey. */
export async function addServerKey(
  device: string,
  ask: (question: Question) => Promise<string | null>,
): Promise<{ key: LuksKey; remove: () => Promise<void> }> {
  const before = await slotsOf(device);
  const current = await askPassphrase(device, ask);
  const passphrase = randomBytes(32).toString("base64url");
  const folder = await mkdtemp(join(MEMORY, "svc-agent-")).catch(() => mkdtemp(join(tmpdir(), "svc-agent-")));
  try {
    const file = join(folder, "key");
    await writeFile(file, passphrase, { mode: 0o600 });
    const added = await cryptsetup(["luksAddKey", "--batch-mode", "--key-file", "-", device, file], current);
    if (added.code !== 0) throw new NoKey(`cryptsetup could not add a key: ${added.errors}`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  const [slot, salt] = [...(await slotsOf(device))].find(([slotNumber]) => !before.has(slotNumber)) ?? [];
  if (slot === undefined || salt === undefined) throw new NoKey("the new key is in no slot");
  const remove = async () => {
    await cryptsetup(["luksKillSlot", "--batch-mode", "--key-file", "-", device, String(slot)], current);
  };
  return { key: { passphrase, salt, key_slot: slot }, remove };
}

interface LsblkDevice {
  readonly path: string;
  readonly fstype: string | null;
  readonly children?: readonly LsblkDevice[];
}

/** The device with LUKS below a file system, in what `lsblk --inverse` prints; null: none. */
export function luksBelow(json: string): string | null {
  const find = (devices: readonly LsblkDevice[]): string | null => {
    for (const { path, fstype, children = [] } of devices) {
      const device = fstype === "crypto_LUKS" ? path : find(children);
      if (device !== null) return device;
    }
    return null;
  };
  try {
    return find((JSON.parse(json) as { blockdevices: LsblkDevice[] }).blockdevices);
  } catch {
    return null;
  }
}

/** The device with LUKS on which the system is. */
export async function systemDisk(): Promise<string | null> {
  const source = (await outputOf("findmnt", ["--noheadings", "--output", "SOURCE", "/"])).trim();
  if (!source.startsWith("/dev/")) return null;
  return luksBelow(await outputOf("lsblk", ["--json", "--inverse", "--output", "PATH,FSTYPE", source]));
}
