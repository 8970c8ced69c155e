// What an installer package of Windows runs on the host: batch files that start the agent's own commands.
import { SetupError } from "../../setup.ts";
import type { PackageSetup } from "../files.ts";
import { installWords, type ScriptLanguage } from "../install-words.ts";

const LOG_FILE = "install.log";

/** Programs read `\"` as a quotation mark, and batch files expand `%`. Throws a SetupError for what no word can have. */
function batchWord(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that end a line or a word
  if (/["\u0000-\u001f]/.test(text)) {
    const flag = /^--[a-z-]+/.exec(text)?.[0] ?? text;
    throw new SetupError("usage", `${flag}: an msi takes no quotation marks and no control characters here`);
  }
  return `"${text.replaceAll("%", "%%").replace(/\\+$/, "$&$&")}"`;
}

/** `%~dp0` is the script's folder, with a backslash at its end. */
const batch: ScriptLanguage = { quote: batchWord, beside: (name) => `"%~dp0${name}"` };

const lines = (...all: readonly string[]): string => ["@echo off", "chcp 65001 > nul", ...all, ""].join("\r\n");

/** The agent's program, from the folder below it. */
const programOf = ({ program }: PackageSetup): string =>
  "executable" in program ? '"%~dp0..\\svc-agent.exe"' : `${batchWord(program.node)} "%~dp0..\\agent.mjs"`;

/** The script's exit code is that of the installation. */
export function installScript(setup: PackageSetup): string {
  const { program } = setup;
  const log = `"%~dp0${LOG_FILE}"`;
  const node = "executable" in program ? null : batchWord(program.node);
  return lines(
    ...(node === null
      ? []
      : [`if not exist ${node} echo Node.js 20.19 or newer is needed: ${node} is missing> ${log}& exit /b 1`]),
    `${programOf(setup)} ${installWords(setup, batch)} > ${log} 2>&1`,
  );
}

/**
 * Works where Node has been removed before, too. With an argument, which follows a failed installation, the log is
 * kept. Never fails: a package that cannot be removed helps nobody.
 */
export function uninstallScript(setup: PackageSetup): string {
  const { program } = setup;
  return lines(
    ...("executable" in program ? [] : [`if not exist ${batchWord(program.node)} goto without`]),
    `${programOf(setup)} uninstall > nul 2>&1`,
    ":without",
    "schtasks /End /TN svc-agent > nul 2>&1",
    "schtasks /Delete /TN svc-agent /F > nul 2>&1",
    `if "%~1"=="" del "%~dp0${LOG_FILE}" > nul 2>&1`,
    "exit /b 0",
  );
}
