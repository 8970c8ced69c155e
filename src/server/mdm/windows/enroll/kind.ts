// What a Windows device reports about itself when it enrolls.
import type { Services } from "../../../core/context.ts";
import { startedPart } from "../../../core/running.ts";
import type { EnrollmentKind, EnrollRequest } from "../../../enrollment/kind.ts";
import { createHostEnrollment } from "../../../enrollment/service.ts";
import { addSeenDevices } from "../../check-ins/seen.ts";

export interface WindowsDevice {
  readonly deviceId: string;
  readonly hardwareId: string;
  readonly name: string;
  readonly osVersion: string;
  /** Whether its certificate is that of the machine, or that of a user. */
  readonly isOfMachine: boolean;
}

interface WindowsRequest extends EnrollRequest {
  readonly device: WindowsDevice;
}

const windowsKind = ({ settings }: Services): EnrollmentKind<WindowsRequest> => ({
  agent: "windows_device",
  // Only once the certificate is issued.
  lane: null,
  async reported(matched) {
    return matched.map(({ request: { device, address, identifier }, known }) => ({
      uuid: known?.uuid || identifier,
      computer_name: known?.computer_name || device.name,
      hostname: known?.hostname || device.name,
      display_name: known?.display_name || device.name || device.deviceId,
      platform: known?.platform || "windows",
      os_version: known?.os_version || `Windows ${device.osVersion}`.trim(),
      public_ip: known?.public_ip || address,
    }));
  },
  // A user or an agent enrolls the device: it does not repeat that by itself.
  lastEnrolled: async () => new Map(),
  write: (tx, enrolled, now) =>
    addSeenDevices(
      { settings },
      tx,
      enrolled.map(({ row }) => row),
      now,
    ),
  forget: () => {},
});

export const windowsEnrollment = startedPart("enrollment of Windows devices", async (services) => {
  const enrollment = createHostEnrollment(services, windowsKind(services));
  return { enroll: enrollment.enroll, stop: () => enrollment.idle() };
});
