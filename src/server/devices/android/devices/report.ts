// What the vendor's description of a device means. Pure functions.
import { z } from "zod";
import { firmwareText, serialNumber as meaningfulSerial } from "../../../../agent-wire/firmware.ts";
import type { HostRow } from "../../../hosts/hosts/access.ts";
import { type AgentRow, clip } from "../../../platform/agent-protocol/rows.ts";
import { isoAt } from "../../../platform/core/clock.ts";
import { limit } from "../../../platform/core/limits.ts";
import { deviceSoftware } from "../../../software/software/ingest.ts";
import type { DeviceReport } from "../../reports/write.ts";

export const androidLimits = {
  text: limit({
    what: "text in a report about an Android device",
    max: 4096,
    unit: "characters",
    beyond: "The text counts as not reported.",
  }),
  events: limit({
    what: "memory events and details of non-compliance in a report about an Android device",
    max: 1_000,
    unit: "entries",
    beyond: "The rest is ignored.",
  }),
  applications: limit({
    what: "applications in a report about an Android device",
    max: 20_000,
    unit: "entries",
    beyond: "The list counts as not reported.",
  }),
  previousNames: limit({
    what: "earlier names of an Android device",
    max: 1_000,
    unit: "entries",
    beyond: "The names are ignored: the device is known by its serial number.",
  }),
};

const text = z.string().max(androidLimits.text.max).catch("");
const someOf = <S extends z.ZodType>(item: S) =>
  z
    .array(z.unknown())
    .transform((all) => all.slice(0, androidLimits.events.max))
    .pipe(z.array(item));
const bytes = z.coerce.number().min(0).max(Number.MAX_SAFE_INTEGER).nullable().catch(null);

/** A `Device` of the Android Management API, as far as it is used. Numbers of 64 bits are texts in JSON. */
export const AndroidDevice = z.object({
  name: z
    .string()
    .max(1024)
    .regex(/^enterprises\/[^/]+\/devices\/[^/]+$/),
  state: text.default(""),
  appliedState: text.default(""),
  managementMode: text.default(""),
  ownership: text.default(""),
  enrollmentTokenData: text.default(""),
  lastStatusReportTime: text.default(""),
  enrollmentTime: text.default(""),
  /** Names that the vendor gave the same device in earlier enrollments, oldest first. */
  previousDeviceNames: z.array(text).max(androidLimits.previousNames.max).catch([]).default([]),
  policyName: text.default(""),
  appliedPolicyName: text.default(""),
  appliedPolicyVersion: z.coerce.number().int().min(0).catch(0).default(0),
  nonComplianceDetails: someOf(
    z.object({ settingName: text.default(""), nonComplianceReason: text.default(""), packageName: text.default("") }),
  )
    .catch([])
    .default([]),
  hardwareInfo: z
    .object({
      brand: text.default(""),
      manufacturer: text.default(""),
      model: text.default(""),
      serialNumber: text.default(""),
      enterpriseSpecificId: text.default(""),
    })
    .partial()
    .catch({})
    .default({}),
  softwareInfo: z.object({ androidVersion: text, androidBuildNumber: text }).partial().catch({}).default({}),
  memoryInfo: z.object({ totalRam: bytes, totalInternalStorage: bytes }).partial().catch({}).default({}),
  memoryEvents: someOf(
    z.object({ eventType: text.default(""), createTime: text.default(""), byteCount: bytes.optional() }),
  )
    .catch([])
    .default([]),
  networkInfo: z.object({ wifiMacAddress: text }).partial().catch({}).default({}),
  applicationReports: z
    .array(
      z.object({
        packageName: text.default(""),
        displayName: text.default(""),
        versionName: text.default(""),
        state: text.default(""),
      }),
    )
    .max(androidLimits.applications.max)
    .nullable()
    .catch(null)
    .default(null),
});
export type AndroidDevice = z.output<typeof AndroidDevice>;

/** The device has left, or was removed. */
export const hasLeft = ({ state, appliedState }: AndroidDevice): boolean =>
  state === "DELETED" || appliedState === "DELETED";

export const isPersonal = ({ ownership }: AndroidDevice): boolean => ownership === "PERSONALLY_OWNED";

const idOf = ({ name }: Pick<AndroidDevice, "name">): string => name.slice(name.lastIndexOf("/") + 1);

/** A personal device shows no serial number: its id in this organization takes the place of both. */
export function identityOf(device: AndroidDevice): { uuid: string; serial: string } {
  const { enterpriseSpecificId = "", serialNumber = "" } = device.hardwareInfo;
  const uuid = clip(enterpriseSpecificId.trim() || idOf(device));
  return { uuid, serial: isPersonal(device) ? uuid : clip(meaningfulSerial(serialNumber)) };
}

function timeIn(text: string): string | null {
  const time = Date.parse(text);
  return Number.isNaN(time) ? null : isoAt(time);
}

/** When the device has reported, by the vendor's clock; null: unknown. */
export const reportedAt = ({ lastStatusReportTime }: AndroidDevice): string | null => timeIn(lastStatusReportTime);

/** When the device has enrolled, by the vendor's clock; null: unknown. */
export const enrolledAt = ({ enrollmentTime }: AndroidDevice): string | null => timeIn(enrollmentTime);

export function factsOf(device: AndroidDevice): Partial<HostRow> {
  const { hardwareInfo } = device;
  const brand = firmwareText(hardwareInfo.brand ?? "");
  const manufacturer = firmwareText(hardwareInfo.manufacturer ?? "");
  const model = firmwareText(hardwareInfo.model ?? "");
  const { androidVersion = "", androidBuildNumber = "" } = device.softwareInfo;
  const name = clip([capital(brand || manufacturer), model].filter(Boolean).join(" "));
  const set: Partial<HostRow> = {};
  if (name !== "") Object.assign(set, { computer_name: name, hostname: name, display_name: name });
  if (manufacturer || brand) set.hardware_vendor = clip(manufacturer || brand);
  if (model) set.hardware_model = clip(model);
  if (androidVersion) set.os_version = clip(`Android ${androidVersion}`);
  if (androidBuildNumber) set.build = clip(androidBuildNumber);
  const { wifiMacAddress = "" } = device.networkInfo;
  if (wifiMacAddress) set.primary_mac = clip(wifiMacAddress.toLowerCase());
  const { totalRam } = device.memoryInfo;
  if (totalRam) set.memory = totalRam;
  return { ...set, ...storageOf(device) };
}

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

const GIGABYTE = 1_000_000_000;
const gigabytes = (value: number): number => Math.round((value / GIGABYTE) * 100) / 100;

function storageOf({ memoryInfo: { totalInternalStorage: total }, memoryEvents }: AndroidDevice): Partial<HostRow> {
  const free = memoryEvents
    .filter(({ eventType, byteCount }) => eventType === "INTERNAL_STORAGE_MEASURED" && byteCount != null)
    .sort((a, b) => (a.createTime < b.createTime ? 1 : -1))[0]?.byteCount;
  if (!total || free == null) return {};
  return {
    gigs_total_disk_space: gigabytes(total),
    gigs_disk_space_available: gigabytes(free),
    percent_disk_space_available: Math.min(100, Math.floor((free * 100) / total)),
  };
}

/** Applications as rows of the software inventory. Null: the device did not report them. */
function applicationsOf({ applicationReports }: AndroidDevice): AgentRow[] | null {
  return (
    applicationReports
      ?.filter(({ state, packageName }) => state !== "REMOVED" && packageName !== "")
      .map(({ packageName, displayName, versionName }) => ({
        name: displayName || packageName,
        version: versionName,
        bundle_identifier: packageName,
      })) ?? null
  );
}

interface ReportedDevice {
  readonly hostId: number;
  readonly device: AndroidDevice;
}

export function reportOf({ device }: ReportedDevice, row: HostRow, now: number): DeviceReport {
  const set = factsOf(device);
  const version = set.os_version?.replace(/^Android /, "") ?? "";
  const applications = applicationsOf(device);
  return {
    set: { ...set, detail_updated_at: isoAt(now), refetch_requested: false },
    os: version === "" ? null : { name: "Android", version, platform: row.platform },
    details: null,
    software: applications && deviceSoftware(row.platform, applications),
  };
}
