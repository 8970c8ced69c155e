// Builds of the server with one rule broken on purpose: a test that passes with them checks nothing. The product
// contains none of this; a copy of the sources is changed and built in a temporary folder.
import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { insist } from "./check.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const COPIED = ["src", "scripts", "bin", "package.json", "tsconfig.json", "tsconfig.build.json"];

export interface Mutant {
  /** Below `src`. */
  readonly file: string;
  /** A text that occurs exactly once. */
  readonly from: string;
  readonly to: string;
}

/** Returns the path of its `run.js`, and how to delete it. */
export async function buildMutant({ file, from, to }: Mutant): Promise<{ binary: string; remove(): void }> {
  const dir = mkdtempSync(join(tmpdir(), "svc-mutant-"));
  for (const name of COPIED) cpSync(join(root, name), join(dir, name), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(dir, "node_modules"));
  const path = join(dir, "src", file);
  const parts = readFileSync(path, "utf8").split(from);
  insist(parts.length === 2, `${file} contains the text to change ${parts.length - 1} times:\n${from}`);
  writeFileSync(path, parts.join(to));
  await new Promise<void>((resolve, reject) => {
    execFile(process.execPath, [join(dir, "scripts", "build.mjs")], (error, stdout, stderr) =>
      error ? reject(new Error(`the changed server could not be built:\n${stdout}${stderr}`)) : resolve(),
    );
  });
  return {
    binary: join(dir, "bin", "run.js"),
    remove: () => rmSync(dir, { recursive: true, force: true, maxRetries: 5 }),
  };
}
