/** Platform families, by which queries, labels and policies are selected. */
export type PlatformFamily = "darwin" | "linux" | "windows" | "other" | "unknown";

/** Values of `os_version.platform` that belong to the Linux family. */
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
/** Substrings of ID_LIKE that identify unlisted distributions: for Rocky Linux it is "rhel centos fedora". */
export const linuxParents: readonly string[] = [...linuxPlatforms, "fedora", "suse"].filter(
  (name, _, all) => !all.some((other) => other !== name && name.includes(other)),
);

/** The family of a platform; `unknown` for empty text. Must agree with `onPlatform`, the same rule as a predicate. */
export function platformFamily(platform: string, platformLike = ""): PlatformFamily {
  if (platform === "") return "unknown";
  if (platform === "darwin" || platform === "windows") return platform;
  if (linux.has(platform)) return "linux";
  const like = platformLike.toLowerCase();
  return linuxParents.some((name) => like.includes(name)) ? "linux" : "other";
}

/** The platform from the enrollment's `platform_type` bit mask, used if `os_version` is missing. */
export function platformOfMask(platformType: unknown): string {
  const mask = typeof platformType === "string" || typeof platformType === "number" ? Number(platformType) : 0;
  if ((mask & 16) !== 0) return "darwin";
  if ((mask & 8) !== 0) return "linux";
  if ((mask & 2) !== 0) return "windows";
  return "";
}

/** Devices of Apple that only device management reaches. */
export const phonePlatforms = ["ios", "ipados"] as const;
export const isPhone = (platform: string): boolean => phonePlatforms.some((name) => name === platform);

const otherPlatforms = ["darwin", "windows", "android", "chrome", ...phonePlatforms] as const;

/** Whether this names a platform in lists of them. Hosts may report others, such as further Linux distributions. */
export const isNamedPlatform = (platform: string): boolean =>
  linux.has(platform) || otherPlatforms.some((name) => name === platform);
