// The agent as one program with Node inside, and the setup that such a program may contain.
import { getAsset, isSea } from "node:sea";
import { constants, Script } from "node:vm";
import type { AgentSetup } from "./setup.ts";

/** The name of the setup in the program. */
export const SETUP_ASSET = "setup.json";

/** `svc agent package` writes it. */
export type BuiltInSetup = AgentSetup;

/** Whether this process is such a program. */
export const isExecutable = (): boolean => isSea();

/** Null: none is in the program, or this is no such program. */
export function builtInSetup(): BuiltInSetup | null {
  return isSea() ? (JSON.parse(getAsset(SETUP_ASSET, "utf8")) as BuiltInSetup | null) : null;
}

/** Runs a module. In such a program, `import` by itself finds only modules of Node. */
export async function importFile(url: string): Promise<void> {
  if (!isSea()) await import(url);
  else {
    const load = new Script("(url) => import(url)", {
      importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    }).runInThisContext() as (url: string) => Promise<unknown>;
    await load(url);
  }
}
