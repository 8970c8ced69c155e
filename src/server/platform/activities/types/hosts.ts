// Hosts: enrollment, transfer and removal, lock and wipe, escrowed secrets.
import type { HostDetails, TeamDetails } from "./details.ts";

export interface HostActivities {
  edited_custom_host_vital_value: HostDetails & { custom_host_vital_id: number; custom_host_vital_name: string };
  locked_host: HostDetails & { view_pin: boolean; reason?: string };
  unlocked_host: HostDetails & { host_platform: string; reason?: string };
  wiped_host: HostDetails & { host_platform: string; reason?: string };
  failed_wipe: HostDetails & { host_platform: string };
  cleared_passcode: HostDetails;
  viewed_host_recovery_lock_password: HostDetails;
  retrieved_host_my_device_url: HostDetails;
  set_host_recovery_lock_password: HostDetails;
  rotated_host_recovery_lock_password: HostDetails;
  rotated_disk_encryption_key: HostDetails;
  created_managed_local_account: HostDetails;
  read_managed_local_account: HostDetails;
  rotated_managed_local_account_password: HostDetails;
  failed_to_rotate_managed_local_account_password: HostDetails & { detail: string };
  escrowed_disk_encryption_key: HostDetails;
  read_host_disk_encryption_key: HostDetails;
  svc_enrolled: { host_id: number; host_serial: string; host_display_name: string };
  /** Refused by enrollment/rule.ts. At most one per day for each host, reason and agent. */
  host_enrollment_rejected: HostDetails & {
    host_serial: string;
    host_uuid: string;
    platform: string;
    enrollment_plane: "query_engine" | "managed_agent" | "apple_device" | "windows_device" | "android_device";
    reason: string;
  };
  transferred_hosts: TeamDetails & { host_ids: readonly number[]; host_display_names: readonly string[] };
  deleted_host: {
    host_id: number;
    host_display_name: string;
    host_serial: string;
    triggered_by: "manual" | "expiration";
    host_expiry_window?: number;
  };
}
