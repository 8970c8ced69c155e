// What people may have in their home folders, while the agent reads as root. Needs root, to own files as another account.
import { execFileSync } from "node:child_process";
import { chownSync, lchownSync } from "node:fs";
import { chmod, mkdir, mkdtemp, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { authorizedKeyRows } from "../../src/agent/tables/authorized-keys.ts";
import { chromeExtensions, firefoxAddons, vscodeExtensions } from "../../src/agent/tables/extensions.ts";
import { type HomeFolder, rowsOfHomes } from "../../src/agent/tables/homes.ts";
import type { TableRow } from "../../src/agent/tables/table.ts";
import { processorTime } from "../support/processor-time.ts";

const UID = 54_321;
let folder: string;
let home: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-homes-"));
  await chmod(folder, 0o755);
  home = join(folder, "mallory");
  await mkdir(home);
  chownSync(home, UID, UID);
});
afterEach(() => rm(folder, { recursive: true }));

/** Makes the folders of a path below the home, owned by the account. */
async function place(path: string): Promise<string> {
  const whole = join(home, path);
  await mkdir(dirname(whole), { recursive: true });
  for (let one = dirname(whole); one !== home; one = dirname(one)) lchownSync(one, UID, UID);
  return whole;
}

async function file(path: string, content: string | object): Promise<string> {
  const whole = await place(path);
  await writeFile(whole, typeof content === "string" ? content : JSON.stringify(content));
  lchownSync(whole, UID, UID);
  return whole;
}

async function pipe(path: string): Promise<void> {
  const whole = await place(path);
  execFileSync("mkfifo", [whole]);
  lchownSync(whole, UID, UID);
}

async function link(path: string, to: string): Promise<void> {
  const whole = await place(path);
  await symlink(to, whole);
  lchownSync(whole, UID, UID);
}

const account = { name: "mallory", uid: UID, gid: UID, description: "", shell: "" };
const rowsOf = (rows: (one: HomeFolder) => Promise<TableRow[]>) =>
  rowsOfHomes(rows, async () => [{ ...account, home }]);
const namesOf = async () => (await rowsOf(vscodeExtensions)).map(({ name }) => name);
const extension = (name: string) => ({ publisher: "p", name, version: "1.0.0" });

describe.skipIf(process.platform !== "linux" || process.getuid?.() !== 0)("a home folder", () => {
  beforeEach(() => file(".vscode/extensions/good/package.json", extension("good")));

  it("with pipes, devices, and files without an end has the rows of its other files", async () => {
    for (let i = 0; i < 40; i++) await pipe(`.vscode/extensions/pipe-${i}/package.json`);
    await pipe(".cursor/extensions");
    await link(".vscode/extensions/endless/package.json", "/dev/zero");
    await link(".vscode/extensions/kernel/package.json", "/proc/kmsg");
    await link(".vscode/extensions/terminal/package.json", "/dev/tty");
    await link(".vscode/extensions/loop/package.json", "package.json");
    await mkdir(await place(".vscode/extensions/folder/package.json"));
    await truncate(await file(".vscode/extensions/sparse/package.json", ""), 1e12);
    expect(await namesOf()).toEqual(["p.good"]);
  });

  it("with links to what only root may read does not reveal it", async () => {
    const secret = join(folder, "secret");
    await mkdir(secret, { mode: 0o700 });
    await writeFile(join(secret, "package.json"), JSON.stringify(extension("of-root")), { mode: 0o644 });
    await link(".vscode/extensions/folder", secret);
    await link(".vscode/extensions/file/package.json", join(secret, "package.json"));
    const closed = await file(".vscode/extensions/closed/package.json", extension("closed"));
    chownSync(closed, 0, 0);
    await chmod(closed, 0o600);
    await link(".config/google-chrome/Default", secret);
    expect(await namesOf()).toEqual(["p.good"]);
    expect(await rowsOf(chromeExtensions)).toEqual([]);
  });

  it("with files of root that anybody may read, and links inside of it, has their rows", async () => {
    chownSync(await file(".vscode/extensions/shared/package.json", extension("shared")), 0, 0);
    await file("dotfiles/linked/package.json", extension("linked"));
    await link(".vscode/extensions/linked", join(home, "dotfiles/linked"));
    expect(await namesOf()).toEqual(["p.good", "p.linked", "p.shared"]);
  });

  it("with very many files, and names with line breaks, has some of them, and no more", async () => {
    await file(".vscode/extensions/a\nb/package.json", extension("line\nbreak"));
    const chrome = await place(".config/google-chrome/Default/Extensions/x");
    await mkdir(chrome);
    execFileSync("sh", ["-c", `cd '${dirname(chrome)}' && seq 100000 | xargs touch`]);
    execFileSync("chown", ["-R", `${UID}:${UID}`, join(home, ".config")]);
    expect(await namesOf()).toEqual(["p.line\nbreak", "p.good"]);
    expect(await rowsOf(chromeExtensions)).toEqual([]);
    const addons = Array.from({ length: 50_000 }, (_, i) => ({ id: `addon-${i}` }));
    await file(".mozilla/firefox/p.default/extensions.json", { addons });
    expect((await rowsOf(firefoxAddons)).length).toBe(2_000);
  });

  it("with texts of any size and form neither fails nor crowds out others", async () => {
    await file(".mozilla/firefox/p.default/extensions.json", { addons: [null, 7, "x", { id: "x".repeat(3e6) }] });
    await file(".config/google-chrome/Default/Extensions/i/1/manifest.json", '{"name":"n","permissions":[[[[]]]]}');
    await file(".config/google-chrome/Default/Extensions/j/1/manifest.json", "[".repeat(1e6));
    const other = join(folder, "alice");
    await mkdir(join(other, ".mozilla/firefox/p"), { recursive: true });
    await writeFile(join(other, ".mozilla/firefox/p/extensions.json"), JSON.stringify({ addons: [{ id: "hers" }] }));
    const owners = async () => [
      { ...account, home },
      { ...account, name: "alice", uid: 0, home: other },
    ];
    const rows = await rowsOfHomes(firefoxAddons, owners);
    expect(rows.map(({ identifier }) => String(identifier).length)).toEqual([0, 0, 0, 10_000, 4]);
    expect(await rowsOf(chromeExtensions)).toEqual([expect.objectContaining({ name: "n", permissions: "" })]);
  });
});

describe("authorized keys", () => {
  it("are read with their options and comments", () => {
    const content =
      '# x\nssh-ed25519 AAAA me@here\nfrom="10.0.0.1, 10.0.0.2",no-pty ecdsa-sha2-nistp256 BBBB\n\nssh-rsa\n';
    expect(authorizedKeyRows(content, "/f", 7)).toEqual([
      { uid: 7, algorithm: "ssh-ed25519", key: "AAAA", options: "", comment: "me@here", key_file: "/f" },
      {
        uid: 7,
        algorithm: "ecdsa-sha2-nistp256",
        key: "BBBB",
        options: 'from="10.0.0.1, 10.0.0.2",no-pty',
        comment: "",
        key_file: "/f",
      },
    ]);
  });

  it("are read in a time that grows with the size of the file only", () => {
    const line = `a${" ".repeat(4e6)}ssh-rsa`;
    // The square of the size would take hours.
    expect(processorTime(() => expect(authorizedKeyRows(line, "/f", 7)).toEqual([]))).toBeLessThan(10_000);
  });
});
