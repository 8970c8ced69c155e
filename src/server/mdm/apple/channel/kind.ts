// What an Apple device reports about itself when it enrolls.

import { type PlistDict, stringIn } from "../../../../plist/value.ts";
import type { Services } from "../../../core/context.ts";
import { startedPart } from "../../../core/running.ts";
import type { EnrollmentKind, EnrollRequest } from "../../../enrollment/kind.ts";
import { createHostEnrollment } from "../../../enrollment/service.ts";
import { addSeenDevices } from "../../check-ins/seen.ts";
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
}

export function deviceOf(message: PlistDict): AppleDevice {
  const text = (key: string) => (stringIn(message, key) ?? "").trim().slice(0, appleFact.max);
  const model = text("ProductName") || text("Model");
  return {
    serial: text("SerialNumber"),
    udid: text("UDID"),
    name: text("DeviceName"),
    model,
    platform:
      model.startsWith("iPhone") || model.startsWith("iPod") ? "ios" : model.startsWith("iPad") ? "ipados" : "darwin",
    osVersion: text("OSVersion"),
    build: text("BuildVersion"),
  };
}

const osNames = { darwin: "macOS", ios: "iOS", ipados: "iPadOS" } as const;

const appleKind = ({ settings }: Services): EnrollmentKind<AppleRequest> => ({
  agent: "apple_device",
  // Only once the identity is bound.
  lane: null,
  async reported(matched) {
    return matched.map(({ request: { device, address, identifier }, known }) => ({
      // Personal devices have no other id.
      uuid: known?.uuid || device.udid || identifier,
      hardware_serial: known?.hardware_serial || device.serial,
      hardware_model: known?.hardware_model || device.model,
      hardware_vendor: known?.hardware_vendor || "Apple Inc.",
      computer_name: known?.computer_name || device.name,
      hostname: known?.hostname || device.name,
      display_name: known?.display_name || device.name || device.serial || device.udid,
      platform: known?.platform || device.platform,
      os_version: known?.os_version || `${osNames[device.platform]} ${device.osVersion}`.trim(),
      public_ip: known?.public_ip || address,
    }));
  },
  // A device enrolls when its user installs a profile: it does not repeat that by itself.
  lastEnrolled: async () => new Map(),
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
