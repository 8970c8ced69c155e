import type { OsIdentity } from "../../../hosts/hosts/os-versions.ts";
import { type AgentRow, text } from "../../../platform/agent-protocol/rows.ts";

/** Registry values that complete os_version on Windows; "" if a release lacks one. */
export interface WindowsRelease {
  readonly ubr: string;
  readonly displayVersion: string;
  readonly installationType: string;
}

const trimDots = (value: string): string => value.replace(/^\.+/, "").replace(/\.+$/, "");

/** Removes suffixes such as "(Jammy Jellyfish)". No regular expression: `\(.*\)` would take quadratic time. */
function withoutBrackets(version: string): string {
  const open = version.indexOf("(");
  const close = version.lastIndexOf(")");
  const name = open >= 0 && close > open ? version.slice(0, open) + version.slice(close + 1) : version;
  return name.trim();
}

const isZero = (part: string): boolean => part === "" || part === "0";

/** The platform of an os_version row. Old agents report an empty one on CentOS 6. */
export function platformOf(row: AgentRow): string {
  const platform = text(row, "platform").trim();
  if (platform !== "") return platform;
  return text(row, "name").toLowerCase().includes("centos") ? "centos" : "";
}

function unixVersion(row: AgentRow): string {
  const name = text(row, "name").toLowerCase();
  if (name.includes("ubuntu")) return withoutBrackets(text(row, "version"));
  if (name.includes("chrome")) return text(row, "version");
  const parts = [text(row, "major"), text(row, "minor"), text(row, "patch")];
  return parts.every(isZero) ? text(row, "build") : parts.join(".");
}

/** The host's `os_version` on macOS, Linux and ChromeOS. */
export function unixOsVersion(row: AgentRow): string {
  const version = trimDots(`${text(row, "name")} ${unixVersion(row)}`).trim();
  // Rapid security response: "macOS 13.3.1 (a)".
  const extra = text(row, "extra");
  return extra === "" ? version : `${version} ${extra}`.trim();
}

export function windowsRelease(rows: readonly AgentRow[]): WindowsRelease {
  const data = new Map(rows.map((row) => [text(row, "name"), text(row, "data").trim()]));
  return {
    ubr: data.get("UBR") ?? "",
    displayVersion: data.get("DisplayVersion") ?? "",
    installationType: data.get("InstallationType") ?? "",
  };
}

function windowsVersion(row: AgentRow, release: WindowsRelease | null): string {
  const version = text(row, "version").trim();
  return release?.ubr && version.split(".").length === 3 ? `${version}.${release.ubr}` : version;
}

export const windowsName = (row: AgentRow): string => text(row, "name").replace("Microsoft Windows", "Windows").trim();

/** The host's `os_version` on Windows. */
export function windowsOsVersion(row: AgentRow, release: WindowsRelease | null): string {
  return [windowsName(row), release?.displayVersion ?? "", windowsVersion(row, release)]
    .filter((part) => part !== "")
    .join(" ");
}

/** The OS release of a host; null if the row has no name. */
export function osIdentity(row: AgentRow, platform: string, release: WindowsRelease | null): OsIdentity | null {
  const name = text(row, "name").trim();
  if (name === "") return null;
  const version = platform === "windows" ? windowsVersion(row, release) : trimDots(withoutBrackets(unixVersion(row)));
  return { name, version, platform };
}
