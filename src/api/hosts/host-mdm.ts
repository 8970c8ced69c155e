// Device management in host replies.
import { z } from "zod";
import { Id } from "../fields.ts";

export const HostProfile = z.object({
  profile_uuid: z.string(),
  name: z.string(),
  status: z.enum(["verified", "verifying", "pending", "failed"]),
  operation_type: z.enum(["install", "remove"]),
  scope: z.string(),
  managed_local_account: z.string(),
  detail: z.string(),
});
export type HostProfile = z.infer<typeof HostProfile>;

const DiskEncryptionStatus = z
  .enum(["verified", "verifying", "action_required", "enforcing", "failed", "removing_enforcement"])
  .nullable();

/** The state of something that this server sets on the host. */
const SettingState = z.object({ status: z.enum(["verified", "verifying", "pending", "failed"]), detail: z.string() });

/** The state of the deadline by which an Apple device has to be updated. */
const OsUpdateState = SettingState.extend({
  minimum_version: z.string().meta({ description: "empty: the newest for the device, which is not known yet" }),
  deadline: z.string(),
  install_state: z.string().meta({ description: "as the device reports it" }),
  pending_version: z.string().meta({ description: "that the device is about to install; empty: none" }),
});

export const HostMdm = z.object({
  encryption_key_available: z.boolean(),
  enrollment_status: z.string().nullable(),
  name: z.string(),
  server_url: z.string().nullable(),
  connected_to_svc: z.boolean(),
  unenroll_pending: z
    .literal(true)
    .optional()
    .meta({ description: "device management is turned off when the device answers; absent otherwise" }),
  dep_profile_error: z.boolean(),
  device_status: z.enum(["locked", "unlocked", "wiped"]),
  pending_action: z.enum(["", "lock", "unlock", "wipe"]),
  action_failure: z
    .string()
    .optional()
    .meta({ description: "why the last lock, unlock or wipe failed; absent if it did not" }),
  macos_settings: z
    .object({ disk_encryption: DiskEncryptionStatus, action_required: z.string().nullable() })
    .optional()
    .meta({ description: "one macOS host" }),
  macos_setup: z
    .object({
      bootstrap_package_status: z.enum(["installed", "pending", "failed"]).nullable(),
      detail: z.string(),
      bootstrap_package_name: z.string(),
    })
    .optional()
    .meta({ description: "one macOS host" }),
  os_settings: z
    .object({
      disk_encryption: z.object({ status: DiskEncryptionStatus, detail: z.string() }),
      recovery_lock_password: SettingState.optional().meta({ description: "absent: the host has none" }),
      managed_local_account: SettingState.optional().meta({ description: "absent: the host has none" }),
      host_name_template: SettingState.optional().meta({ description: "absent: the host gets no name by a template" }),
      os_update: OsUpdateState.optional().meta({ description: "absent: the host has no update deadline" }),
    })
    .optional()
    .meta({ description: "one host" }),
  profiles: z.array(HostProfile).optional().meta({ description: "one host" }),
});
export type HostMdm = z.infer<typeof HostMdm>;

/** A host's enrollment in a device-management product. */
export const Enrollment = z.object({
  enrollment_status: z.string(),
  server_url: z.string(),
  name: z.string(),
  id: Id.nullable().meta({ description: "of the product; null if the agent did not recognize it" }),
});
export type Enrollment = z.infer<typeof Enrollment>;
