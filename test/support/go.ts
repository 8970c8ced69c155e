// Programs in Go that others wrote. They are built once, and kept between runs.
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { skipWithout } from "./tools.ts";

const folder = join(tmpdir(), "svc-test-go");

/** The path of the program; null where it cannot be built, except in continuous integration, which fails then. */
export function goProgram(module: string): string | null {
  const name = basename(module);
  const built = join(folder, name);
  if (existsSync(built)) return built;
  const versioned = `${module}@latest`;
  try {
    const env = { ...process.env, GOBIN: folder };
    execFileSync("go", ["install", versioned], { stdio: "ignore", timeout: 300_000, env });
  } catch {}
  return skipWithout(existsSync(built) ? [] : [`${name} in Go`], `go install ${versioned}`) ? null : built;
}
