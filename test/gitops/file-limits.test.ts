// What files may name: regular files of limited size, in the folders of the configuration.
import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, realpath, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readFiles } from "../../src/gitops/files/read.ts";
import { errorsOf } from "../support/gitops-files.ts";

let folder: string;
/** The folder of the configuration, with another one beside it. */
const inside = (path: string): string => join(folder, "configuration", path);
const outside = (path: string): string => join(folder, "elsewhere", path);
const write = async (path: string, text: string): Promise<void> => {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
};

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "svc-limits-")));
  await write(inside("lib/keep.sh"), "echo");
  await write(outside("secret.sh"), "echo secret");
  await write(outside("list.yml"), "[]");
});
afterEach(() => rm(folder, { recursive: true }));

async function errorsWith(main: string, directory = inside(""), file = inside("d.yml")): Promise<string[]> {
  await write(file, main);
  const { problems, contents } = await readFiles([file], { environment: {}, directory, allowUnknownKeys: false });
  if (problems.failed) expect([...contents.values()].map(String)).not.toContain("echo secret");
  return errorsOf(problems);
}

const scripts = (list: string): string => `org_settings: {}\ncontrols: {scripts: ${list}}\n`;
const team = (more: string): string => `name: T\nsettings: {secrets: []}\nagent_options: null\n${more}\n`;
const OUTSIDE = /outside of .*configuration: copy it into the repository, or run the command in a folder that/;

describe.skipIf(process.platform === "win32")("files that are not regular", () => {
  it("are refused instead of read: pipes, devices and folders", async () => {
    execFileSync("mkfifo", [inside("lib/pipe.sh")]);
    await symlink("/dev/zero", inside("lib/zero.sh"));
    await mkdir(inside("lib/folder.sh"));
    expect(await errorsWith(scripts("[{path: lib/pipe.sh}, {path: lib/folder.sh}]"))).toEqual([
      expect.stringContaining("lib/pipe.sh is not a regular file but a named pipe"),
      expect.stringContaining("lib/folder.sh is a directory"),
    ]);
    expect(await errorsWith(scripts("[{path: lib/zero.sh}]"))).toEqual([
      expect.stringContaining("lib/zero.sh leads to /dev/zero, which is outside of"),
    ]);
    expect(await errorsWith(scripts("[{paths: 'lib/*.sh'}]"))).toEqual(
      expect.arrayContaining([expect.stringContaining("leads to /dev/zero")]),
    );
  });

  it("are refused in every place that names files", async () => {
    for (const name of ["pipe.yml", "pipe.pkg", "pipe.json", "pipe.png", "pipe.sql", "pipe*.yml"])
      execFileSync("mkfifo", [inside(name)]);
    const url = "url: 'https://x.example/a.deb'";
    const files = [
      "policies: [{path: pipe.yml}]",
      "policies: [{path: 'pipe*.yml'}]",
      "software: {packages: [{path: pipe.yml}]}",
      `software: {packages: [{${url}, icon: {path: pipe.png}}]}`,
      `software: {packages: [{${url}, pre_install_query: {path: pipe.sql}}]}`,
      "controls: {setup_experience: {bootstrap_package: pipe.pkg}}",
      "controls: {setup_experience: {vendora_setup_assistant: pipe.json}}",
      "controls: {macos_settings: {custom_settings: [{path: pipe.json}]}}",
    ];
    for (const one of files)
      expect((await errorsWith(team(one))).join("\n"), one).toContain("is not a regular file but a named pipe");
  });

  it("may be the ones that the user names, up to the limit", async () => {
    const options = { environment: {}, directory: inside(""), allowUnknownKeys: false };
    const { problems } = await readFiles(["/dev/zero"], options);
    expect(errorsOf(problems)).toEqual([expect.stringContaining("/dev/zero is larger than 8 MiB")]);
  });
});

it("large files are not read to their end", async () => {
  await write(inside("big.pkg"), "xar!");
  await truncate(inside("big.pkg"), 1e12);
  await write(inside("big.sh"), "");
  await truncate(inside("big.sh"), 9 * 1024 * 1024);
  const main = team("controls: {scripts: [{path: big.sh}], setup_experience: {bootstrap_package: big.pkg}}");
  expect((await errorsWith(main)).sort()).toEqual([
    expect.stringContaining("big.sh is larger than 8 MiB"),
    expect.stringMatching(/big\.pkg: is larger than \d+ bytes/),
  ]);
});

describe("files outside of the configuration", () => {
  it("are refused, also if a link leads there", async () => {
    await symlink(outside("secret.sh"), inside("lib/link.sh"));
    await symlink(outside(""), inside("linked"));
    expect(await errorsWith(scripts("[{path: lib/link.sh}, {path: ../elsewhere/secret.sh}]"))).toEqual([
      expect.stringMatching(OUTSIDE),
      expect.stringMatching(OUTSIDE),
    ]);
    expect((await errorsWith(scripts("[{path: lib/link.sh}]")))[0]).toContain(`leads to ${outside("secret.sh")}`);
    for (const list of ["[{paths: 'linked/*.sh'}]", "[{paths: '../elsewhere/*.sh'}]", "[{paths: '/**/*.sh'}]"])
      expect(await errorsWith(scripts(list)), list).toEqual([expect.stringMatching(OUTSIDE)]);
    expect(await errorsWith(team("policies: [{path: ../elsewhere/list.yml}]"))).toEqual([
      expect.stringMatching(OUTSIDE),
    ]);
  });

  it("may be in the same repository, in the current folder, or beside the folder of the teams", async () => {
    const shared = scripts("[{path: ../elsewhere/secret.sh}]");
    expect(await errorsWith(shared, folder)).toEqual([]);
    await mkdir(join(folder, ".git"));
    expect(await errorsWith(shared)).toEqual([]);
    await rm(join(folder, ".git"), { recursive: true });
    const policies = team("controls: {scripts: [{path: ../lib/keep.sh}]}");
    expect(await errorsWith(policies, outside(""), inside("teams/t.yml"))).toEqual([]);
    await symlink("keep.sh", inside("lib/alias.sh"));
    expect(await errorsWith(scripts("[{path: lib/alias.sh}]"))).toEqual([]);
  });
});
