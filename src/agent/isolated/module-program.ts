import { createRequire } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";

/** What starts the second process where the agent is not one file. */
export function moduleProgram(): readonly [string, ...string[]] {
  const isBuilt = import.meta.url.endsWith(".js");
  if (isBuilt) return [process.execPath, fileURLToPath(new URL("./queries.process.js", import.meta.url))];
  const loader = pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;
  return [process.execPath, "--import", loader, fileURLToPath(new URL("./queries.process.ts", import.meta.url))];
}
