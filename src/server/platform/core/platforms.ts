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
/** Whether the platform is a distribution that is Linux whatever else the host reports. */
export const isListedLinux = (platform: string): boolean => linux.has(platform);

/** Substrings of `platform_like` of systems that are no Linux. */
export const otherParents = ["bsd", "solaris", "illumos"] as const;

/**
 * The family of a platform; `unknown` for empty text. Agents run on few systems, so that every platform that is not
 * listed is a distribution of Linux. Must agree with `onPlatform`, the same rule as a predicate.
 */
export function platformFamily(platform: string, platformLike = ""): PlatformFamily {
  if (platform === "") return "unknown";
  if (platform === "darwin" || platform === "windows") return platform;
  if (linux.has(platform)) return "linux";
  if (otherSystems.some((name) => name === platform)) return "other";
  const like = platformLike.toLowerCase();
  return otherParents.some((name) => like.includes(name)) ? "other" : "linux";
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
/** Platforms that are none of macOS, Windows and Linux. */
export const otherSystems = [
  "android",
  "chrome",
  ...phonePlatforms,
  "freebsd",
  "openbsd",
  "netbsd",
  "dragonfly",
  "solaris",
  "illumos",
  "aix",
  "haiku",
] as const;

/** Whether this names a platform in lists of them. Hosts may report others, such as further Linux distributions. */
export const isNamedPlatform = (platform: string): boolean =>
  linux.has(platform) || otherPlatforms.some((name) => name === platform);
