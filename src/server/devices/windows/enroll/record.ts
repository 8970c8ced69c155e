// What follows from an enrollment, in its transaction: the host is managed, its user is known, and it gets its settings.

import type { HostRow } from "../../../hosts/hosts/access.ts";
import { setManaged } from "../../../hosts/mdm-status/managed.ts";
import { setEndUser } from "../../../hosts/scim/links.ts";
import { recordHostActivity } from "../../../platform/activities/by-host.ts";
import type { Context } from "../../../platform/core/context.ts";
import { notifyProfiles } from "../../profiles/part.ts";
import { windowsUrl } from "../channel/devices.ts";
import type { Enrollment } from "../channel/listeners.ts";
import { windowsDevices } from "../channel/listeners.ts";

interface EnrolledDevice {
  readonly enrollment: Enrollment;
  /** Path of discovery, as agents report it. */
  readonly path: string;
  /** Address of the user who has signed in; null: an agent has enrolled the device. */
  readonly email: string | null;
}

export async function recordEnrolled(
  inside: Context,
  host: HostRow,
  { enrollment, path, email }: EnrolledDevice,
): Promise<void> {
  const { kind } = enrollment;
  const config = inside.config.over(inside.store);
  const serverUrl = (await windowsUrl({ config, settings: inside.settings }, path)) ?? "";
  await setManaged(inside, host.id, { kind, serverUrl });
  if (email !== null) await setEndUser(inside.store, host.id, email);
  await recordHostActivity(inside, host.id, "mdm_enrolled", {
    host_serial: host.hardware_serial,
    host_display_name: host.display_name,
    installed_from_dep: kind === "automatic",
    mdm_platform: "microsoft",
    enrollment_id: null,
    platform: host.platform,
  });
  await notifyProfiles(inside.store, { hostIds: [host.id] });
  for (const listener of inside.extensions.of(windowsDevices)) await listener.enrolled?.(inside, enrollment);
}
