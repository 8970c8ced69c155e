const names: Readonly<Record<string, string>> = {
  darwin: "macOS",
  windows: "Windows",
  linux: "Linux",
  chrome: "ChromeOS",
  ios: "iOS",
  ipados: "iPadOS",
  android: "Android",
  ubuntu: "Ubuntu",
  debian: "Debian",
  rhel: "Red Hat",
  fedora: "Fedora",
  centos: "CentOS",
  amzn: "Amazon Linux",
  arch: "Arch Linux",
  sles: "SUSE",
  opensuse: "openSUSE",
};

/** The platform's usual name; others as they are. */
export const platformName = (platform: string): string => names[platform] ?? (platform || "not known");
