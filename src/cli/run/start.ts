// Runs a command line in a process: streams, exit code, and exit.

import { keyringIsStuck } from "../auth/tokens.ts";
import { runConfig } from "./config.ts";
import { main } from "./main.ts";

export async function start(argv: string[], root: string, config = runConfig(root, argv)): Promise<void> {
  let unwritten: Error | null = null;
  // `svc help | head`: the reader closed the pipe. oclif handles this for commands; otherwise Node would exit with a
  // stack trace.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") unwritten = error;
  });
  // If stderr fails there is no place left to report it.
  process.stderr.on("error", () => {});
  const code = await main(argv, await config);
  // A command may have set an exit code itself (a server that was stopped).
  process.exitCode = code === 0 ? (process.exitCode ?? 0) : code;
  if (unwritten !== null && process.exitCode === 0) {
    process.stderr.write(`stdout could not be written: ${(unwritten as Error).message}\n`);
    process.exitCode = 1;
  }
  if (keyringIsStuck()) {
    // Wait for pending writes to a pipe.
    await new Promise<void>((resolve) => process.stdout.write("", () => resolve()));
    process.exit();
  }
}
