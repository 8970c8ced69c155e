// The process around a command line.
import { loadConfig, main } from "./main.ts";
import { keyringIsStuck } from "./tokens.ts";

export async function start(argv: string[], root: string, config = loadConfig(root)): Promise<void> {
  const code = await main(argv, await config);
  // A command may have set a code of its own (a server that was told to stop).
  process.exitCode = code === 0 ? (process.exitCode ?? 0) : code;
  if (keyringIsStuck()) {
    // Writes to a pipe may still be on their way.
    await new Promise<void>((resolve) => process.stdout.write("", () => resolve()));
    process.exit();
  }
}
