// Runs the programs that build packages.
import { execFile } from "node:child_process";
import { SetupError } from "../setup.ts";

interface ToolOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** How to get the program. */
  readonly hint?: string;
  /** Folder in which the command runs. */
  readonly folder?: string;
}

/** Throws a SetupError if the program is missing or fails. */
export const run = (
  program: string,
  args: readonly string[],
  { env = {}, hint, folder }: ToolOptions = {},
): Promise<void> =>
  new Promise((resolve, reject) => {
    const options = { env: { ...process.env, LC_ALL: "C", ...env }, maxBuffer: 16 * 1024 * 1024, cwd: folder };
    execFile(program, args, options, (error, _, stderr) => {
      if (error === null) resolve();
      else if (error.code === "ENOENT") reject(new SetupError("failed", `${program} is not installed`, hint));
      else reject(new SetupError("failed", `${program} failed: ${stderr.trim() || error.message}`));
    });
  });

/** Whether the program can be started. */
export const isInstalled = (program: string): Promise<boolean> =>
  new Promise((resolve) => {
    execFile(program, ["--version"], (error) => resolve(error === null || error.code !== "ENOENT"));
  });
