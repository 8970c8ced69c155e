// What a simulated Android device is: a pure function of the seed and its number.
import { mix, Random } from "../random.ts";

export interface AndroidFacts {
  /** The vendor's id of the device. */
  readonly id: string;
  readonly isPersonal: boolean;
  /** The vendor's description of the device, without what changes. */
  readonly description: Readonly<Record<string, unknown>>;
}

const models = [
  { brand: "google", manufacturer: "Google", model: "Pixel 8", hardware: "shiba" },
  { brand: "google", manufacturer: "Google", model: "Pixel Tablet", hardware: "tangorpro" },
  { brand: "samsung", manufacturer: "samsung", model: "SM-S921B", hardware: "s5e9945" },
  { brand: "motorola", manufacturer: "motorola", model: "moto g84 5G", hardware: "bangkk" },
] as const;
const releases = [
  ["13", "TP1A.220624.014"],
  ["14", "UP1A.231005.007"],
  ["15", "AP4A.250105.002"],
] as const;
const apps = [
  ["com.android.chrome", "Chrome"],
  ["com.google.android.gm", "Gmail"],
  ["com.google.android.apps.maps", "Maps"],
  ["com.microsoft.teams", "Teams"],
  ["com.slack", "Slack"],
  ["org.mozilla.firefox", "Firefox"],
  ["com.whatsapp", "WhatsApp"],
  ["com.spotify.music", "Spotify"],
] as const;

/** `personal`: the share of devices that belong to their users. */
export function factsOf(seed: number, index: number, personal: number): AndroidFacts {
  const random = new Random(mix(seed, index, 33));
  const isPersonal = random.chance(personal);
  const { hardware, ...model } = random.pick(models);
  const [androidVersion, androidBuildNumber] = random.pick(releases);
  const total = random.pick([64, 128, 256]) * 1_000_000_000;
  const mac = Array.from({ length: 6 }, () => random.hex(2)).join(":");
  const serialNumber = isPersonal ? {} : { serialNumber: `A${random.hex(11).toUpperCase()}` };
  return {
    id: random.hex(16),
    isPersonal,
    description: {
      managementMode: isPersonal ? "PROFILE_OWNER" : "DEVICE_OWNER",
      ownership: isPersonal ? "PERSONALLY_OWNED" : "COMPANY_OWNED",
      hardwareInfo: { ...model, hardware, ...serialNumber, enterpriseSpecificId: random.hex(32).toUpperCase() },
      softwareInfo: { androidVersion, androidBuildNumber, androidDevicePolicyVersionName: "14.28.05.v59" },
      memoryInfo: { totalRam: String(random.pick([6, 8, 12]) * 1_000_000_000), totalInternalStorage: String(total) },
      memoryEvents: [
        {
          eventType: "INTERNAL_STORAGE_MEASURED",
          createTime: "2026-01-01T00:00:00Z",
          byteCount: String(Math.floor(total * (0.2 + random.next() * 0.6))),
        },
      ],
      ...(isPersonal ? {} : { networkInfo: { wifiMacAddress: mac } }),
      applicationReports: apps
        .filter(() => random.chance(0.7))
        .map(([packageName, displayName]) => ({
          packageName,
          displayName,
          versionName: `${random.int(1, 140)}.${random.int(0, 9)}.${random.int(0, 99)}`,
          versionCode: random.int(1000, 999_999),
          state: "INSTALLED",
        })),
    },
  };
}
