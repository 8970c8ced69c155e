// What GET /version reports of the build. The environment's SVC_BUILD_BRANCH, SVC_BUILD_REVISION and SVC_BUILD_USER
// come first: an image is built without the repository. SOURCE_DATE_EPOCH (reproducible-builds.org, seconds since 1970)
// replaces the time of the build.
import { spawnSync } from "node:child_process";
import { userInfo } from "node:os";

/** Null outside a checkout of the repository, or without git. */
function git(root, ...args) {
  const { status, stdout } = spawnSync("git", args, {
    cwd: root,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
    // Builds may run while somebody commits.
    env: { ...process.env, GIT_OPTIONAL_LOCKS: "0" },
  });
  return status === 0 ? stdout.trim() : null;
}

/** The full hash of the commit, with `-modified` if tracked files differ from it; empty if it is not known. */
function revisionOf(root) {
  // The package may lie inside another project's repository.
  if (git(root, "rev-parse", "--show-prefix") !== "") return "";
  const hash = git(root, "rev-parse", "HEAD");
  if (hash === null) return "";
  return git(root, "status", "--porcelain", "--untracked-files=no") === "" ? hash : `${hash}-modified`;
}

function user() {
  try {
    return userInfo().username;
  } catch {
    // The user has no entry in the user database, as in some containers.
    return "";
  }
}

/** Branch and revision, which decide whether the build of unchanged sources is still described correctly. */
export function sourceInfo(root, env = process.env) {
  const revision = env.SVC_BUILD_REVISION ?? revisionOf(root);
  // A detached checkout, as in most pipelines, has no branch.
  const branch = env.SVC_BUILD_BRANCH ?? (revision === "" ? null : git(root, "symbolic-ref", "--short", "HEAD")) ?? "";
  return { branch, revision };
}

export function buildInfo(source, env = process.env) {
  const time = env.SOURCE_DATE_EPOCH ? new Date(Number(env.SOURCE_DATE_EPOCH) * 1000) : new Date();
  return {
    ...source,
    build_date: `${time.toISOString().slice(0, 19)}Z`,
    build_user: env.SVC_BUILD_USER ?? user(),
  };
}
