import { execFileSync, spawnSync } from "node:child_process";

/**
 * Programs that a machine may lack, such as a browser. Their tests are skipped there, with a message; in continuous
 * integration they fail, because nobody would read the message.
 */
export function skipWithout(missing: readonly string[], install: string): boolean {
  if (missing.length === 0) return false;
  const message = `${missing.join(", ")} cannot be found. Install it (${install}).`;
  if (process.env.CI) throw new Error(message);
  console.warn(`SKIPPED: ${message}`);
  return true;
}

const isThere = (program: string): boolean =>
  (spawnSync(program, ["--version"]).error as NodeJS.ErrnoException | undefined)?.code !== "ENOENT";

/**
 * Whether the program of this Debian package is available. It is installed where that is allowed, as in continuous
 * integration, which fails without it.
 */
export function haveProgram(program: string, debianPackage: string): boolean {
  if (isThere(program)) return true;
  const { CI, SVC_TEST_APT } = process.env;
  if ((CI || SVC_TEST_APT) && process.getuid?.() === 0)
    try {
      for (const args of [
        ["update"],
        ["-o", "DPkg::Lock::Timeout=120", "install", "-y", "--no-install-recommends", debianPackage],
      ])
        execFileSync("apt-get", args, { stdio: "ignore", timeout: 300_000 });
    } catch {}
  return !skipWithout(isThere(program) ? [] : [program], `apt-get install ${debianPackage}`);
}
