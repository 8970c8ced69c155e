/** What an agent platform counts as when queries, labels and policies are chosen for it. */
export type PlatformFamily = "darwin" | "linux" | "windows" | "other" | "unknown";

/** `os_version.platform` of the systems that count as Linux. */
export const linuxPlatforms = [
  "linux",
  "ubuntu",
  "debian",
  "rhel",
  "centos",
  "sles",
  "kali",
  "gentoo",
  "amzn",
  "pop",
  "arch",
  "linuxmint",
  "void",
  "nixos",
  "endeavouros",
  "manjaro",
  "opensuse-leap",
  "opensuse-tumbleweed",
  "tuxedo",
] as const;

const linux: ReadonlySet<string> = new Set(linuxPlatforms);
/** Found in the ID_LIKE of distributions that are not listed: "rocky" is "rhel centos fedora". */
export const linuxParents: readonly string[] = [...linuxPlatforms, "fedora", "suse"].filter(
  (name, _, all) => !all.some((other) => other !== name && name.includes(other)),
);

/** The family of a platform; empty text is `unknown`. `onPlatform` asks the store the same. */
export function platformFamily(platform: string, platformLike = ""): PlatformFamily {
  if (platform === "") return "unknown";
  if (platform === "darwin" || platform === "windows") return platform;
  if (linux.has(platform)) return "linux";
  const like = platformLike.toLowerCase();
  return linuxParents.some((name) => like.includes(name)) ? "linux" : "other";
}

/** The platform that an enrollment's `platform_type` bit mask tells when `os_version` does not. */
export function platformOfMask(platformType: unknown): string {
  const mask = typeof platformType === "string" || typeof platformType === "number" ? Number(platformType) : 0;
  if ((mask & 16) !== 0) return "darwin";
  if ((mask & 8) !== 0) return "linux";
  if ((mask & 2) !== 0) return "windows";
  return "";
}
