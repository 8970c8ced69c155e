import { arch, release } from "node:os";
import si from "systeminformation";
import { readText } from "./hardware.ts";

export interface OperatingSystem {
  readonly name: string;
  readonly version: string;
  readonly major: number;
  readonly minor: number;
  readonly patch: number;
  readonly build: string;
  readonly platform: string;
  readonly platform_like: string;
  readonly codename: string;
  readonly arch: string;
  readonly extra: string;
  readonly install_date: number | null;
}

const architecture = () => (arch() === "x64" ? "x86_64" : arch() === "arm64" ? "aarch64" : arch());

/** The values of a file of assignments, such as /etc/os-release. */
export function assignments(text: string): Map<string, string> {
  const lines = text.split("\n").flatMap((line) => /^(\w+)=(.*)$/.exec(line.trim()) ?? []);
  const values = new Map<string, string>();
  for (let i = 0; i < lines.length; i += 3) values.set(lines[i + 1]!, lines[i + 2]!.replace(/^(["'])(.*)\1$/, "$2"));
  return values;
}

const numbersOf = (version: string) => {
  const [major = 0, minor = 0, patch = 0] = (/\d+(\.\d+)*/.exec(version)?.[0] ?? "").split(".").map(Number);
  return { major, minor, patch };
};

async function linux(): Promise<OperatingSystem> {
  const values = assignments((await readText("/etc/os-release")) || (await readText("/usr/lib/os-release")));
  const value = (name: string) => values.get(name) ?? "";
  return {
    name: value("NAME") || "Linux",
    version: value("VERSION") || value("VERSION_ID"),
    ...numbersOf(value("VERSION_ID")),
    build: value("BUILD_ID"),
    platform: value("ID") || "linux",
    platform_like: value("ID_LIKE") || value("ID"),
    codename: value("VERSION_CODENAME"),
    arch: architecture(),
    extra: "",
    install_date: null,
  };
}

async function others(): Promise<OperatingSystem> {
  const osInfo = await si.osInfo();
  const isMac = process.platform === "darwin";
  const version = isMac ? osInfo.release : release();
  return {
    name: isMac ? "macOS" : osInfo.distro,
    version,
    ...numbersOf(version),
    build: isMac ? osInfo.build : (osInfo.build.split(".")[0] ?? ""),
    platform: isMac ? "darwin" : "windows",
    platform_like: isMac ? "darwin" : "windows",
    codename: isMac ? "" : osInfo.distro,
    arch: isMac ? arch() : `${arch() === "ia32" ? 32 : 64}-bit`,
    extra: "",
    install_date: null,
  };
}

export const readOs = (): Promise<OperatingSystem> => (process.platform === "linux" ? linux() : others());
