import { outputOf } from "./read.ts";

/** What a script of Windows PowerShell writes into its pipeline; empty if it fails. */
export async function jsonFromPowerShell(script: string): Promise<Readonly<Record<string, string>>[]> {
  const whole = `[Console]::OutputEncoding = [Text.Encoding]::UTF8; @(${script}) | ConvertTo-Json -Compress -Depth 2`;
  return objectsIn(await outputOf("powershell.exe", ["-NoProfile", "-NonInteractive", "-Command", whole]));
}

/** `ConvertTo-Json` writes a list of one object as the object. */
export function objectsIn(json: string): Readonly<Record<string, string>>[] {
  try {
    const value: unknown = JSON.parse(json);
    const list = Array.isArray(value) ? value : [value];
    return list
      .filter((element): element is object => typeof element === "object" && element !== null)
      .map((row) => Object.fromEntries(Object.entries(row).map(([name, part]) => [name, String(part ?? "")])));
  } catch {
    return [];
  }
}
