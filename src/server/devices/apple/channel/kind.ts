// What an Apple device reports about itself when it enrolls.

import { hardwareUuid, serialNumber } from "../../../../agent-wire/firmware.ts";
import { type PlistDict, stringIn } from "../../../../plist/value.ts";
import type { EnrollmentKind, EnrollRequest } from "../../../hosts/enrollment/kind.ts";
import { createHostEnrollment } from "../../../hosts/enrollment/service.ts";
import type { HostRow } from "../../../hosts/hosts/access.ts";
import { storedIdentifier } from "../../../hosts/hosts/identifier.ts";
import type { Services } from "../../../platform/core/context.ts";
import { startedPart } from "../../../platform/core/running.ts";
import { and, eq, not, oneOf } from "../../../platform/store/query.ts";
import { addSeenDevices } from "../../reports/seen.ts";
import { appleFact } from "./limits.ts";

export interface AppleDevice {
  readonly serial: string;
  /** Empty for personal devices. */
  readonly udid: string;
  readonly name: string;
  readonly model: string;
  readonly platform: "darwin" | "ios" | "ipados";
  readonly osVersion: string;
  readonly build: string;
}

interface AppleRequest extends EnrollRequest {
  readonly device: AppleDevice;
  readonly enrollmentId: string;
  /** Whether the device's identity was issued for the host of `hostId`. */
  readonly isForHost: boolean;
}

export function deviceOf(message: PlistDict): AppleDevice {
  const text = (key: string) => (stringIn(message, key) ?? "").trim().slice(0, appleFact.max);
  const model = text("ProductName") || text("Model");
  return {
    serial: serialNumber(text("SerialNumber")),
    udid: hardwareUuid(text("UDID")),
    name: text("DeviceName"),
    model,
    platform:
      model.startsWith("iPhone") || model.startsWith("iPod") ? "ios" : model.startsWith("iPad") ? "ipados" : "darwin",
    osVersion: text("OSVersion"),
    build: text("BuildVersion"),
  };
}

export const isAlike = (id: string, otherId: string): boolean =>
  id === "" || otherId === "" || id.toLowerCase() === otherId.toLowerCase();

const ownPlatforms: ReadonlySet<string> = new Set(["", "darwin", "ios", "ipados"]);

/** `enrolledId`: of the device that uses the host; undefined: none does. */
function isAnotherDevice(
  { device, enrollmentId, isForHost }: AppleRequest,
  host: HostRow,
  enrolledId: string | undefined,
): boolean {
  if (!ownPlatforms.has(host.platform)) return true;
  if (isForHost) return false;
  // Nothing but its identity proves which personal device it is.
  if (device.udid === "") return true;
  const { hardware_serial, identifier, uuid } = host;
  if (enrolledId !== undefined)
    return (
      enrolledId.toLowerCase() !== enrollmentId.toLowerCase() ||
      (hardware_serial !== "" && hardware_serial.toLowerCase() !== device.serial.toLowerCase())
    );
  const isSame = identifier === storedIdentifier(device.udid) || isAlike(uuid, device.udid);
  return !isSame || !isAlike(hardware_serial, device.serial);
}

const osNames = { darwin: "macOS", ios: "iOS", ipados: "iPadOS" } as const;

const appleKind = ({ settings }: Services): EnrollmentKind<AppleRequest> => ({
  agent: "apple_device",
  // Only once the identity is bound.
  lane: null,
  async reported(matched) {
    return matched.map(({ request: { device, address, identifier }, existing }) => ({
      // Personal devices have no other id.
      uuid: existing?.uuid || device.udid || identifier,
      hardware_serial: existing?.hardware_serial || device.serial,
      hardware_model: existing?.hardware_model || device.model,
      hardware_vendor: existing?.hardware_vendor || "Apple Inc.",
      computer_name: existing?.computer_name || device.name,
      hostname: existing?.hostname || device.name,
      display_name: existing?.display_name || device.name || device.serial || device.udid,
      platform: existing?.platform || device.platform,
      os_version: existing?.os_version || `${osNames[device.platform]} ${device.osVersion}`.trim(),
      public_ip: existing?.public_ip || address,
    }));
  },
  // A device enrolls when its user installs a profile: it does not repeat that by itself.
  lastEnrolled: async () => new Map(),
  async taken(tx, matched) {
    const where = and(
      oneOf(
        "host_id",
        matched.map(({ existing }) => existing.id),
      ),
      eq("is_user", false),
      not(eq("state", "removed")),
    );
    const rows = await tx.appleEnrollments.pick(["host_id", "enrollment_id"], { where });
    const idsByHost = new Map(rows.map(({ host_id, enrollment_id }) => [host_id, enrollment_id]));
    const others = matched.filter(({ request, existing }) =>
      isAnotherDevice(request, existing, idsByHost.get(existing.id)),
    );
    return new Set(others.map(({ request }) => request));
  },
  // The channel's own rows are written together with the binding of the identity, which may be refused.
  write: (tx, enrolled, now) =>
    addSeenDevices(
      { settings },
      tx,
      enrolled.map(({ row }) => row),
      now,
    ),
  forget: () => {},
});

export const appleEnrollment = startedPart("enrollment of Apple devices", async (services) => {
  const enrollment = createHostEnrollment(services, appleKind(services));
  return { enroll: enrollment.enroll, stop: () => enrollment.idle() };
});
