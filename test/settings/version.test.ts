// The build data that GET /version returns.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { buildInfo, sourceInfo } from "../../scripts/build-info.mjs";
import { afterEveryTest } from "../support/ends.ts";

const folders: string[] = [];
afterEveryTest(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "svc-version-"));
  folders.push(folder);
  return folder;
}

function git(folder: string, ...args: string[]): string {
  const who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "commit.gpgsign=false"];
  return execFileSync("git", [...who, ...args], { cwd: folder, encoding: "utf8", stdio: "pipe" }).trim();
}

function newRepository(): { folder: string; head: string } {
  const folder = newFolder();
  git(folder, "init", "--initial-branch", "release-1");
  writeFileSync(join(folder, "file"), "1");
  git(folder, "add", "file");
  git(folder, "commit", "--message", "first");
  return { folder, head: git(folder, "rev-parse", "HEAD") };
}

it("names the branch and the commit, and whether files differ from it", () => {
  const { folder, head } = newRepository();
  expect(sourceInfo(folder, {})).toEqual({ branch: "release-1", revision: head });
  writeFileSync(join(folder, "not-tracked"), "2");
  expect(sourceInfo(folder, {})).toEqual({ branch: "release-1", revision: head });
  writeFileSync(join(folder, "file"), "2");
  expect(sourceInfo(folder, {})).toEqual({ branch: "release-1", revision: `${head}-modified` });
  git(folder, "checkout", "--force", "--detach", head);
  expect(sourceInfo(folder, {})).toEqual({ branch: "", revision: head });
});

it("leaves unknown values empty: without a repository, or in that of another project", () => {
  expect(sourceInfo(newFolder(), {})).toEqual({ branch: "", revision: "" });
  const { folder } = newRepository();
  const inside = mkdtempSync(join(folder, "node_modules-"));
  expect(sourceInfo(inside, {})).toEqual({ branch: "", revision: "" });
});

it("uses the environment for values that a build without the repository cannot know", () => {
  const env = { SVC_BUILD_BRANCH: "main", SVC_BUILD_REVISION: "0123abc", SVC_BUILD_USER: "ci" };
  expect(sourceInfo(newFolder(), env)).toEqual({ branch: "main", revision: "0123abc" });
  const source = { branch: "main", revision: "0123abc" };
  expect(buildInfo(source, { ...env, SOURCE_DATE_EPOCH: "1767225600" })).toEqual({
    ...source,
    build_date: "2026-01-01T00:00:00Z",
    build_user: "ci",
  });
  const own = buildInfo(source, {});
  expect(own.build_user).toBe(userInfo().username);
  expect(Math.abs(Date.parse(own.build_date) - Date.now())).toBeLessThan(60_000);
});
