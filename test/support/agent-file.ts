// The agent as one file, which a fresh checkout has not.
import { mkdir, rename, stat } from "node:fs/promises";
import { join } from "node:path";
import { bundleAgent } from "../../scripts/bundle-agent.mjs";
import { root } from "./cli.ts";

/** Builds dist/agent.mjs where it is missing. */
export async function needAgentFile(): Promise<void> {
  const built = join(root, "dist/agent.mjs");
  if ((await stat(built).catch(() => null)) !== null) return;
  const draft = `${built}.${process.pid}`;
  await mkdir(join(root, "dist"), { recursive: true });
  await bundleAgent(root, draft);
  await rename(draft, built);
}
