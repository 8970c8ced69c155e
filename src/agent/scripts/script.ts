// Runs the text of a script in a folder of its own.
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type FindProcesses, runProcess } from "./process.ts";

interface ScriptRun {
  /** Marks its processes, so that what is left of them is found after a crash. */
  readonly id: string;
  readonly contents: string;
  /** Created where it is missing; removed by the caller. */
  readonly folder: string;
  /** Seconds. */
  readonly timeout: number;
  readonly env?: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  readonly findProcesses: FindProcesses;
}

export interface ScriptEnd {
  readonly output: string;
  readonly exitCode: number;
  readonly timedOut: boolean;
  /** Seconds. */
  readonly runtime: number;
}

export async function runScript(run: ScriptRun): Promise<ScriptEnd> {
  const { id, contents, folder, timeout, env = {}, signal, findProcesses } = run;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const command = commandFor(contents, folder);
  // Windows PowerShell takes a file without a byte order mark for one in the system's old code page.
  const mark = command.file.endsWith(".ps1") ? "\ufeff" : "";
  await writeFile(command.file, mark + contents, { mode: 0o700 });
  const started = performance.now();
  const limits = { timeoutMs: timeout * 1000, signal, findProcesses };
  const ran = await runProcess({ id, command: command.argv, cwd: folder, env, ...limits });
  const runtime = Math.round((performance.now() - started) / 1000);
  const note = ran.timedOut ? `\nThe script was stopped after its time limit of ${timeout} seconds.` : "";
  return { ...ran, output: ran.output + note, runtime };
}

/** By the first line, `#!/usr/bin/python3` for example; without one a shell, on Windows PowerShell. */
export function commandFor(contents: string, folder: string, platform: NodeJS.Platform = process.platform) {
  if (platform === "win32") {
    const file = join(folder, "script.ps1");
    // Output that is not UTF-8, but in the code page of this Windows, could not be read.
    const line = `chcp 65001 > nul & powershell.exe -NoProfile -NonInteractive -ExecutionPolicy Bypass -File "${file}"`;
    return { file, argv: ["cmd.exe", "/d", "/s", "/c", `"${line}"`] as [string, ...string[]] };
  }
  const [, interpreter, argument] = /^#!\s*(\S+)(?:[ \t]+(\S.*?))?[ \t]*\r?(?:\n|$)/.exec(contents) ?? [];
  const file = join(folder, /pwsh$/.test(argument ?? interpreter ?? "") ? "script.ps1" : "script");
  // Not executed by its own name: the folder may be on a file system that does not allow it.
  const words = argument === undefined ? [file] : [argument, file];
  return { file, argv: [interpreter ?? "/bin/sh", ...words] as [string, ...string[]] };
}
