import type { Random } from "../random.ts";

export type Family = "darwin" | "linux" | "windows";
export type Packages = "apps" | "deb" | "rpm" | "portage" | "programs" | "none";

export type Release = {
  name: string;
  version: string;
  major: number;
  minor: number;
  patch: number;
  build: string;
  codename: string;
  /** Windows only: registry values in addition to os_version. */
  displayVersion?: string;
  ubr?: number;
};

export type Platform = {
  key: string;
  family: Family;
  weight: number;
  platform: string;
  platformLike: string;
  packages: Packages;
  distro: string;
  releases: readonly Release[];
};

const linux = (name: string, version: string, major: number, minor: number, patch: number, codename = ""): Release => ({
  name,
  version,
  major,
  minor,
  patch,
  build: "",
  codename,
});

const macos = (version: string, build: string): Release => {
  const [major = 0, minor = 0, patch = 0] = version.split(".").map(Number);
  return { name: "macOS", version, major, minor, patch, build, codename: "" };
};

const windows = (name: string, build: string, displayVersion: string, ubr: number): Release => ({
  name: `Microsoft Windows ${name}`,
  version: `10.0.${build}`,
  major: 10,
  minor: 0,
  patch: 0,
  build,
  codename: `Microsoft Windows ${name}`,
  displayVersion,
  ubr,
});

/**
 * os_version as reported by these systems. Fedora and RHEL both report `rhel`, old CentOS nothing, Arch only a build.
 */
export const PLATFORMS: readonly Platform[] = [
  {
    key: "macos",
    family: "darwin",
    weight: 30,
    platform: "darwin",
    platformLike: "darwin",
    packages: "apps",
    distro: "10.14",
    releases: [macos("14.7.1", "23H222"), macos("15.1", "24B83"), macos("15.3.2", "24D81"), macos("13.7", "22H123")],
  },
  {
    key: "windows",
    family: "windows",
    weight: 28,
    platform: "windows",
    platformLike: "windows",
    packages: "programs",
    distro: "10",
    releases: [
      windows("11 Pro", "22631", "23H2", 4460),
      windows("11 Enterprise", "26100", "24H2", 2314),
      windows("10 Pro", "19045", "22H2", 5131),
      windows("Server 2022 Standard", "20348", "21H2", 2849),
    ],
  },
  {
    key: "ubuntu",
    family: "linux",
    weight: 18,
    platform: "ubuntu",
    platformLike: "debian",
    packages: "deb",
    distro: "centos7",
    releases: [
      linux("Ubuntu", "22.04.4 LTS (Jammy Jellyfish)", 22, 4, 0, "jammy"),
      linux("Ubuntu", "24.04.1 LTS (Noble Numbat)", 24, 4, 0, "noble"),
      linux("Ubuntu", "20.04.6 LTS (Focal Fossa)", 20, 4, 0, "focal"),
    ],
  },
  {
    key: "debian",
    family: "linux",
    weight: 7,
    platform: "debian",
    platformLike: "",
    packages: "deb",
    distro: "centos7",
    releases: [
      linux("Debian GNU/Linux", "12 (bookworm)", 12, 0, 0, "bookworm"),
      linux("Debian GNU/Linux", "11 (bullseye)", 11, 0, 0, "bullseye"),
    ],
  },
  {
    key: "rhel",
    family: "linux",
    weight: 5,
    platform: "rhel",
    platformLike: "fedora",
    packages: "rpm",
    distro: "centos7",
    releases: [
      linux("Red Hat Enterprise Linux", "9.4 (Plow)", 9, 4, 0),
      linux("Red Hat Enterprise Linux", "8.10 (Ootpa)", 8, 10, 0),
    ],
  },
  {
    key: "fedora",
    family: "linux",
    weight: 4,
    platform: "rhel",
    platformLike: "",
    packages: "rpm",
    distro: "centos7",
    releases: [
      linux("Fedora Linux", "40 (Workstation Edition)", 40, 0, 0),
      linux("Fedora Linux", "41 (Server Edition)", 41, 0, 0),
    ],
  },
  {
    key: "centos",
    family: "linux",
    weight: 3,
    platform: "",
    platformLike: "rhel fedora",
    packages: "rpm",
    distro: "centos7",
    releases: [linux("CentOS Linux", "7.9.2009 (Core)", 7, 9, 2009)],
  },
  {
    key: "centos-stream",
    family: "linux",
    weight: 1,
    platform: "centos",
    platformLike: "rhel fedora",
    packages: "rpm",
    distro: "centos7",
    releases: [linux("CentOS Stream", "9", 9, 0, 0)],
  },
  {
    key: "amazon",
    family: "linux",
    weight: 2,
    platform: "amzn",
    platformLike: "fedora",
    packages: "rpm",
    distro: "centos7",
    releases: [linux("Amazon Linux", "2023", 2023, 0, 0)],
  },
  {
    key: "opensuse",
    family: "linux",
    weight: 1,
    platform: "opensuse-leap",
    platformLike: "suse opensuse",
    packages: "rpm",
    distro: "centos7",
    releases: [linux("openSUSE Leap", "15.6", 15, 6, 0)],
  },
  {
    key: "arch",
    family: "linux",
    weight: 1,
    platform: "arch",
    platformLike: "",
    packages: "none",
    distro: "centos7",
    releases: [{ ...linux("Arch Linux", "", 0, 0, 0), build: "rolling" }],
  },
];

const PLATFORM_KEYS = PLATFORMS.map((platform) => platform.key);

/** Hardware models: vendor, model, processor, cores, memory in GiB, and whether there is a battery. */
export type Hardware = {
  vendor: string;
  model: string;
  cpu: string;
  cores: number;
  memoryGib: number;
  battery: boolean;
};

const HARDWARE: Record<Family, readonly Hardware[]> = {
  darwin: [
    { vendor: "Apple Inc.", model: "MacBookPro18,3", cpu: "Apple M1 Pro", cores: 10, memoryGib: 16, battery: true },
    { vendor: "Apple Inc.", model: "Mac14,2", cpu: "Apple M2", cores: 8, memoryGib: 16, battery: true },
    { vendor: "Apple Inc.", model: "Mac15,6", cpu: "Apple M3 Pro", cores: 12, memoryGib: 36, battery: true },
    { vendor: "Apple Inc.", model: "Macmini9,1", cpu: "Apple M1", cores: 8, memoryGib: 8, battery: false },
  ],
  windows: [
    {
      vendor: "Dell Inc.",
      model: "Latitude 7440",
      cpu: "13th Gen Intel(R) Core(TM) i7-1365U",
      cores: 12,
      memoryGib: 16,
      battery: true,
    },
    { vendor: "LENOVO", model: "21HD0015US", cpu: "AMD Ryzen 7 PRO 7840U", cores: 16, memoryGib: 32, battery: true },
    {
      vendor: "HP",
      model: "HP EliteDesk 800 G6",
      cpu: "Intel(R) Core(TM) i5-10500",
      cores: 12,
      memoryGib: 16,
      battery: false,
    },
    {
      vendor: "VMware, Inc.",
      model: "VMware20,1",
      cpu: "Intel(R) Xeon(R) Gold 6338",
      cores: 4,
      memoryGib: 8,
      battery: false,
    },
  ],
  linux: [
    {
      vendor: "QEMU",
      model: "Standard PC (Q35 + ICH9, 2009)",
      cpu: "AMD EPYC 7B13",
      cores: 4,
      memoryGib: 16,
      battery: false,
    },
    {
      vendor: "Amazon EC2",
      model: "m6i.large",
      cpu: "Intel(R) Xeon(R) Platinum 8375C",
      cores: 2,
      memoryGib: 8,
      battery: false,
    },
    {
      vendor: "Dell Inc.",
      model: "PowerEdge R650",
      cpu: "Intel(R) Xeon(R) Silver 4314",
      cores: 64,
      memoryGib: 256,
      battery: false,
    },
    {
      vendor: "LENOVO",
      model: "20XW00A7US",
      cpu: "11th Gen Intel(R) Core(TM) i7-1185G7",
      cores: 8,
      memoryGib: 32,
      battery: true,
    },
  ],
};

export function hardwareFor(family: Family, random: Random): Hardware {
  return random.pick(HARDWARE[family]);
}

/** The platforms of a run: all, or the named ones (`macos`, `ubuntu`, ... or a family such as `linux`). */
export function platformMix(requestedKeys: readonly string[] | undefined): { value: Platform; weight: number }[] {
  const names = new Set((requestedKeys ?? []).map((name) => name.toLowerCase()));
  const platforms = PLATFORMS.filter((p) => names.size === 0 || names.has(p.key) || names.has(p.family));
  for (const name of names) {
    if (!PLATFORMS.some((p) => p.key === name || p.family === name)) {
      throw new Error(`unknown platform ${name}; one of linux, darwin, ${PLATFORM_KEYS.join(", ")}`);
    }
  }
  return platforms.map((value) => ({ value, weight: value.weight }));
}
