// Runs the programs that build packages.
import { execFile } from "node:child_process";
import { SetupError } from "../setup.ts";

/** Throws a SetupError if the program is missing or fails. `hint`: how to get the program. */
export const run = (
  program: string,
  args: readonly string[],
  { env = {}, hint }: { readonly env?: Readonly<Record<string, string>>; readonly hint?: string } = {},
): Promise<void> =>
  new Promise((resolve, reject) => {
    const options = { env: { ...process.env, LC_ALL: "C", ...env }, maxBuffer: 16 * 1024 * 1024 };
    execFile(program, args, options, (error, _, stderr) => {
      if (error === null) resolve();
      else if (error.code === "ENOENT") reject(new SetupError("failed", `${program} is not installed`, hint));
      else reject(new SetupError("failed", `${program} failed: ${stderr.trim() || error.message}`));
    });
  });
