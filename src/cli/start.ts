// The process around a command line.
import { main, runConfig } from "./main.ts";
import { keyringIsStuck } from "./tokens.ts";

export async function start(argv: string[], root: string, config = runConfig(root, argv)): Promise<void> {
  // `svc help | head`: who reads has enough. Commands have this from oclif; Node alone would end with a stack trace.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
  });
  const code = await main(argv, await config);
  // A command may have set a code of its own (a server that was told to stop).
  process.exitCode = code === 0 ? (process.exitCode ?? 0) : code;
  if (keyringIsStuck()) {
    // Writes to a pipe may still be on their way.
    await new Promise<void>((resolve) => process.stdout.write("", () => resolve()));
    process.exit();
  }
}
