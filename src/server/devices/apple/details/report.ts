// What answers of iPhones and iPads mean for their hosts. Pure functions.

import { X509Certificate } from "node:crypto";
import { serialNumber } from "../../../../agent-wire/firmware.ts";
import { bytesIn, dictIn, dictsIn, numberIn, type PlistDict, stringIn } from "../../../../plist/value.ts";
import { certificateName, certificatesLimit } from "../../../certificates/certificates/inventory.ts";
import type { HostRow } from "../../../hosts/hosts/access.ts";
import type { CertificateInventory } from "../../../hosts/hosts/details.ts";
import type { OsIdentity } from "../../../hosts/hosts/os-versions.ts";
import { type AgentRow, clip } from "../../../platform/agent-protocol/rows.ts";

const systems: Readonly<Record<string, string>> = { ios: "iOS", ipados: "iPadOS" };

/** Facts from `DeviceInformation`. What the device does not report keeps its value. */
export function factsOf(answer: PlistDict, host: Pick<HostRow, "platform" | "hardware_serial">) {
  const facts = dictIn(answer, "QueryResponses") ?? {};
  const text = (key: string): string => clip((stringIn(facts, key) ?? "").trim());
  const set: Partial<HostRow> = { ...namesOf(text("DeviceName")), ...storageOf(facts) };
  const serial = serialNumber(text("SerialNumber"));
  if (host.hardware_serial === "" && serial !== "") set.hardware_serial = serial;
  if (text("BuildVersion") !== "") set.build = text("BuildVersion");
  if (text("ProductName") !== "") set.hardware_model = text("ProductName");
  if (text("WiFiMAC") !== "") set.primary_mac = text("WiFiMAC").toLowerCase();
  if (text("TimeZone") !== "") set.timezone = text("TimeZone");
  const name = systems[host.platform] ?? host.platform;
  const version = text("OSVersion");
  if (version !== "") set.os_version = `${name} ${version}`;
  const os: OsIdentity | null = version === "" ? null : { name, version, platform: host.platform };
  return { set, os };
}

const namesOf = (name: string): Partial<HostRow> =>
  name === "" ? {} : { computer_name: name, hostname: name, display_name: name };

const twoDecimals = (value: number): number => Math.round(value * 100) / 100;

function storageOf(facts: PlistDict): Partial<HostRow> {
  const total = numberIn(facts, "DeviceCapacity");
  const free = numberIn(facts, "AvailableDeviceCapacity");
  if (total === null || free === null || total <= 0 || free < 0) return {};
  return {
    gigs_total_disk_space: twoDecimals(total),
    gigs_disk_space_available: twoDecimals(free),
    percent_disk_space_available: Math.min(100, Math.floor((free * 100) / total)),
  };
}

/** Applications from `InstalledApplicationList`, as rows of the software inventory. */
export const applicationsOf = (answer: PlistDict): AgentRow[] =>
  dictsIn(answer, "InstalledApplicationList").map((application) => {
    const bundle_identifier = stringIn(application, "Identifier") ?? "";
    return {
      name: stringIn(application, "Name") || bundle_identifier,
      version: stringIn(application, "ShortVersion") || stringIn(application, "Version") || "",
      bundle_identifier,
    };
  });

/** Certificates from `CertificateList`. What is no certificate is left out. */
export const certificatesOf = (answer: PlistDict): CertificateInventory[] =>
  dictsIn(answer, "CertificateList")
    .slice(0, certificatesLimit.max)
    .flatMap((entry) => {
      const der = bytesIn(entry, "Data");
      const parsed = der && parsedOf(der);
      return parsed ? [certificateOf(parsed, stringIn(entry, "CommonName") ?? "")] : [];
    });

function parsedOf(der: Buffer): X509Certificate | null {
  try {
    return new X509Certificate(der);
  } catch {
    return null;
  }
}

function certificateOf(parsed: X509Certificate, commonName: string): CertificateInventory {
  const { publicKey } = parsed;
  // Names have the form in which agents report them.
  const nameOf = (lines: string | undefined) =>
    certificateName(
      (lines ?? "")
        .split("\n")
        .map((part) => `/${part}`)
        .join(""),
    );
  const subject = nameOf(parsed.subject);
  return {
    sha1: parsed.fingerprint.replaceAll(":", "").toLowerCase(),
    scope: "system",
    username: "",
    not_valid_before: instant(parsed.validFrom),
    not_valid_after: instant(parsed.validTo),
    certificate_authority: parsed.ca,
    common_name: clip(commonName || subject.common_name),
    key_algorithm: publicKey.asymmetricKeyType ?? "",
    key_strength: publicKey.asymmetricKeyDetails?.modulusLength ?? 0,
    key_usage: "",
    serial: parsed.serialNumber,
    signing_algorithm: "",
    subject,
    issuer: nameOf(parsed.issuer),
  };
}

function instant(text: string): string | null {
  const time = Date.parse(text);
  return Number.isNaN(time) ? null : new Date(time).toISOString();
}
