// A text that a command writes to a file or to stdout.
import { writeFile } from "node:fs/promises";
import type { Terminal } from "../output/terminal.ts";
import { cannotWrite } from "./file-errors.ts";

/** Writes the text; `-` is stdout. Returns whether it is now in a file, which the command reports. */
export async function writeText(io: Pick<Terminal, "out">, path: string, text: string): Promise<boolean> {
  if (path === "-") {
    await io.out(text);
    return false;
  }
  await writeFile(path, text).catch((error: unknown) => {
    throw cannotWrite(error, path);
  });
  return true;
}
