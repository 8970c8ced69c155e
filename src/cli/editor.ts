// Texts that a person changes in an editor of their own.
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { failed, usage } from "./errors.ts";
import type { Io } from "./io.ts";

/** The editor's command line: VISUAL, else EDITOR, else on a terminal what every system has. */
export function editorOf({ env, tty }: Pick<Io, "env" | "tty">): string {
  const named = env.VISUAL || env.EDITOR;
  if (named) return named;
  if (!tty.stdin || !tty.stdout)
    throw usage(
      "no editor is known",
      "Without a terminal, EDITOR has to name a command that changes the file and returns.",
    );
  return process.platform === "win32" ? "notepad" : "vi";
}

/** The text as the editor leaves it. It lies in a file that only its owner can read, for as long as the editor runs. */
export async function editText(editor: string, name: string, text: string): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "svc-edit-"));
  try {
    const file = join(dir, name);
    await writeFile(file, text, { mode: 0o600 });
    // As git does it: the command may have arguments of its own, so the shell reads it.
    const code = await new Promise<number | null>((resolve, reject) => {
      const child = spawn(`${editor} "${file}"`, { shell: true, stdio: "inherit" });
      child.on("error", reject);
      child.on("exit", resolve);
    });
    if (code !== 0) throw failed(`the editor ended with ${code ?? "a signal"}; nothing was changed`);
    return await readFile(file, "utf8");
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}
