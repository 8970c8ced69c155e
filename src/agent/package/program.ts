// The system and architecture that a program is for, from its first bytes.
import { SetupError } from "../setup.ts";

const MACH_O_64 = 0xfeedfacf;
/** Programs for several architectures. */
const MACH_O_FAT = 0xcafebabe;
/** `cputype` of Mach-O. */
const machTypes: Readonly<Record<number, string>> = { 16777223: "x64", 16777228: "arm64" };
/** `Machine` of the COFF header (PE format). */
const peMachines: Readonly<Record<number, string>> = { 34404: "x64", 43620: "arm64" };

/** The architecture as Node names it. Throws a SetupError if the program is none for this system. */
export function architectureIn(program: Buffer, type: "pkg" | "msi"): string {
  const arch = type === "pkg" ? macArchitecture(program) : windowsArchitecture(program);
  if (arch !== null) return arch;
  const system = type === "pkg" ? "macOS" : "Windows";
  throw new SetupError(
    "usage",
    `--program: the file is no program for ${system} (x64 or arm64)`,
    `Build it on ${system}: svc agent package --type sea`,
  );
}

function macArchitecture(program: Buffer): string | null {
  if (program.length < 8) return null;
  if (program.readUInt32BE(0) === MACH_O_FAT) return "universal";
  return program.readUInt32LE(0) === MACH_O_64 ? (machTypes[program.readUInt32LE(4)] ?? null) : null;
}

function windowsArchitecture(program: Buffer): string | null {
  if (program.length < 64 || program.toString("latin1", 0, 2) !== "MZ") return null;
  const at = program.readUInt32LE(0x3c);
  if (at + 6 > program.length || program.toString("latin1", at, at + 4) !== "PE\0\0") return null;
  return peMachines[program.readUInt16LE(at + 4)] ?? null;
}
