// Runs scripts of Windows PowerShell, with objects in and out: neither texts of Windows, which are translated, nor
// secrets in arguments, which every process can read.
import { spawn } from "node:child_process";
import { NoKey } from "./luks.ts";

const LONGEST_MS = 10 * 60_000;

/** Returns what the script returns. Throws `NoKey` if it fails, with the error of Windows. */
export type PowerShell = (script: string, input?: Readonly<Record<string, unknown>>) => Promise<unknown>;

/** The script as it runs: it reads `$In`, and its last value, or its error, is written as one line of JSON. */
const wholeScript = (script: string): string => `
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'
$WarningPreference = 'SilentlyContinue'
[Console]::OutputEncoding = New-Object Text.UTF8Encoding $false
$In = [Console]::In.ReadToEnd() | ConvertFrom-Json
try { $Out = @{ value = $(& {
${script}
}) } }
catch { $Out = @{ error = $_.Exception.Message; code = $_.Exception.HResult } }
$Out | ConvertTo-Json -Compress -Depth 5
`;

/** What `wholeScript` has written. Before it, programs may have written other lines. */
export function resultIn(output: string): unknown {
  const line = output.split(/\r?\n/).findLast((text) => text.startsWith("{"));
  if (line === undefined) throw new NoKey("PowerShell returned nothing");
  const { value, error } = JSON.parse(line) as { value?: unknown; error?: unknown };
  if (error !== undefined) throw new NoKey(`PowerShell: ${String(error).trim()}`);
  return value ?? null;
}

export const powerShell: PowerShell = (script, input = {}) =>
  new Promise((resolve, reject) => {
    const encoded = Buffer.from(wholeScript(script), "utf16le").toString("base64");
    const args = ["-NoProfile", "-NonInteractive", "-ExecutionPolicy", "Bypass", "-EncodedCommand", encoded];
    const child = spawn("powershell.exe", args, {
      stdio: ["pipe", "pipe", "ignore"],
      windowsHide: true,
      timeout: LONGEST_MS,
    });
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (part: string) => {
      output += part;
    });
    child.once("error", () => reject(new NoKey("powershell.exe cannot be started on this host")));
    child.once("close", () => {
      try {
        resolve(resultIn(output));
      } catch (error) {
        reject(error as Error);
      }
    });
    // The process may end before it has read all.
    child.stdin.on("error", () => {});
    child.stdin.end(JSON.stringify(input));
  });
