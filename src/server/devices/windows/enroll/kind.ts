// What a Windows device reports about itself when it enrolls.

import type { EnrollmentKind, EnrollRequest } from "../../../hosts/enrollment/kind.ts";
import { createHostEnrollment } from "../../../hosts/enrollment/service.ts";
import type { HostRow } from "../../../hosts/hosts/access.ts";
import { IDP_SOURCE } from "../../../hosts/hosts/emails.ts";
import type { Services } from "../../../platform/core/context.ts";
import { startedPart } from "../../../platform/core/running.ts";
import type { ServerTx } from "../../../platform/core/tables.ts";
import { and, eq, oneOf } from "../../../platform/store/query.ts";
import { addSeenDevices } from "../../reports/seen.ts";

export interface WindowsDevice {
  readonly deviceId: string;
  readonly hardwareId: string;
  readonly name: string;
  readonly osVersion: string;
  /** Whether the device's certificate is that of the machine, or that of a user. */
  readonly isOfMachine: boolean;
}

interface WindowsRequest extends EnrollRequest {
  readonly device: WindowsDevice;
  /** Address of the user who has signed in; null: an agent enrolls its own host. */
  readonly email: string | null;
}

/** Computers say what they are, and others may say the same: only their user gets them again. */
async function othersComputers(tx: ServerTx, matched: readonly { request: WindowsRequest; existing: HostRow }[]) {
  const claimed = matched.filter(({ request }) => request.hostId === undefined);
  const ids = claimed.map(({ existing }) => existing.id);
  if (ids.length === 0) return new Set<WindowsRequest>();
  const [enrolled, actions, users] = await Promise.all([
    tx.windowsEnrollments.pick(["host_id"], { where: and(oneOf("host_id", ids), eq("state", "enrolled")) }),
    tx.hostActions.getMany(ids),
    tx.hostEmails.pick(["host_id", "email"], { where: and(oneOf("host_id", ids), eq("source", IDP_SOURCE)) }),
  ]);
  const inUse = new Set(enrolled.map(({ host_id }) => host_id));
  for (const { id, wiped } of actions) if (wiped) inUse.delete(id);
  const isUser = (hostId: number, email: string | null) =>
    users.some((user) => user.host_id === hostId && user.email.toLowerCase() === email?.toLowerCase());
  return new Set(
    claimed.flatMap(({ request, existing }) =>
      inUse.has(existing.id) && !isUser(existing.id, request.email) ? [request] : [],
    ),
  );
}

const windowsKind = ({ settings }: Services): EnrollmentKind<WindowsRequest> => ({
  agent: "windows_device",
  // Only once the certificate is issued.
  lane: null,
  async reported(matched) {
    return matched.map(({ request: { device, address, identifier }, existing }) => ({
      uuid: existing?.uuid || identifier,
      computer_name: existing?.computer_name || device.name,
      hostname: existing?.hostname || device.name,
      display_name: existing?.display_name || device.name || device.deviceId,
      platform: existing?.platform || "windows",
      os_version: existing?.os_version || `Windows ${device.osVersion}`.trim(),
      public_ip: existing?.public_ip || address,
    }));
  },
  // A user or an agent enrolls the device: it does not repeat that by itself.
  lastEnrolled: async () => new Map(),
  taken: othersComputers,
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
