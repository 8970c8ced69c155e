// Editing a text in the user's editor.
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { failed, usage } from "../errors.ts";
import type { Io } from "../io.ts";

/** The editor's command line: VISUAL, then EDITOR, then on a terminal the system's default editor. */
export function editorOf({ env, tty }: Pick<Io, "env" | "tty">): string {
  const named = env.VISUAL || env.EDITOR;
  if (named) return named;
  if (!tty.stdin || !tty.stdout)
    throw usage(
      "no editor is configured",
      "Without a terminal, EDITOR must be a command that changes the file and exits.",
    );
  return process.platform === "win32" ? "notepad" : "vi";
}

/**
 * Returns the text as the editor saved it. While the editor runs, the text is in a file that only its owner can read.
 */
export async function editText(editor: string, name: string, text: string): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "svc-edit-"));
  try {
    const file = join(dir, name);
    await writeFile(file, text, { mode: 0o600 });
    // The command may contain arguments, as in git, so the shell parses it.
    const code = await new Promise<number | null>((resolve, reject) => {
      const child = spawn(`${editor} "${file}"`, { shell: true, stdio: "inherit" });
      child.on("error", reject);
      child.on("exit", resolve);
    });
    if (code !== 0) throw failed(`the editor exited with ${code ?? "a signal"}; nothing was changed`);
    return await readFile(file, "utf8");
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}
