// The agent and Node in one program: a single executable application of Node
// (https://nodejs.org/api/single-executable-applications.html).
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { BuiltInSetup } from "../built-in.ts";
import { SETUP_ASSET } from "../built-in.ts";
import { SetupError } from "../setup.ts";
import { NotElf, withNote } from "./elf.ts";
import { run } from "./tools.ts";

/** The note in which Node looks for its program, and the text behind which `1` makes it look. */
const NOTE = "NODE_SEA_BLOB";
const FUSE = "NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2:";

/** Ends what only a module needs, at the start of the agent's file. See scripts/bundle-agent.mjs. */
const MODULE_END = "// end of the module's own lines\n";

export interface ExecutableParts {
  /** The agent as one file. */
  readonly agent: string;
  /** What `install` and `run` use without flags; null: nothing. */
  readonly setup: BuiltInSetup | null;
  /** Empty, and nobody else's. */
  readonly folder: string;
}

/** Node 25.5 and newer add the program to a copy of themselves. */
function buildsItself(): boolean {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  return major > 25 || (major === 25 && minor >= 5);
}

/** Writes the executable for machines like this one, from the Node that runs here; returns its path. */
export async function buildExecutable({ agent, setup, folder }: ExecutableParts): Promise<string> {
  const at = agent.indexOf(MODULE_END);
  if (at < 0)
    throw new SetupError("failed", "the agent's file was built by another version", "Build it: npm run build");
  const [main, config, output] = [join(folder, "agent.cjs"), join(folder, "sea.json"), join(folder, "svc-agent")];
  const setupFile = join(folder, "setup.json");
  await writeFile(main, agent.slice(at + MODULE_END.length));
  await writeFile(setupFile, JSON.stringify(setup), { mode: 0o600 });
  const itself = buildsItself();
  const blob = join(folder, "blob");
  await writeFile(
    config,
    JSON.stringify({
      main,
      output: itself ? output : blob,
      disableExperimentalSEAWarning: true,
      assets: { [SETUP_ASSET]: setupFile },
    }),
  );
  await run(process.execPath, [itself ? "--build-sea" : "--experimental-sea-config", config]);
  if (!itself) await writeFile(output, inject(await readFile(process.execPath), await readFile(blob)), { mode: 0o700 });
  // macOS runs only signed programs.
  if (process.platform === "darwin") await run("codesign", ["--sign", "-", "--force", output]);
  return output;
}

function inject(node: Buffer, blob: Buffer): Buffer {
  const fuse = node.indexOf(FUSE);
  const hint = "Run svc with Node from https://nodejs.org, or with Node 25.5 or newer.";
  // Some distributions have Node as a library, which is not in the program.
  if (fuse < 0) throw new SetupError("failed", `${process.execPath} cannot be made one program with the agent`, hint);
  try {
    const result = withNote(node, NOTE, blob);
    result.write("1", fuse + FUSE.length);
    return result;
  } catch (error) {
    if (!(error instanceof NotElf)) throw error;
    throw new SetupError(
      "failed",
      `${process.execPath} cannot be made one program with the agent: ${error.message}`,
      hint,
    );
  }
}
