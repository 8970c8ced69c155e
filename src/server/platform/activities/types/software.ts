// Software, apps from stores, and scripts.
import type { HostDetails, TeamDetails } from "./details.ts";

interface ShownLabel {
  id?: number;
  name: string;
}

interface SoftwareDetails extends TeamDetails {
  software_title: string;
  self_service: boolean;
  labels_include_all?: ShownLabel[];
  labels_include_any?: ShownLabel[];
  labels_exclude_any?: ShownLabel[];
}

interface BatchDetails {
  script_name: string;
  batch_execution_id: string;
  host_count: number;
}

interface StoreAppDetails extends TeamDetails {
  software_title: string;
  software_title_id: number;
  app_store_id: string;
  platform: "darwin" | "ios" | "ipados" | "android";
  self_service: boolean;
  labels_include_any?: ShownLabel[];
  labels_include_all?: ShownLabel[];
  labels_exclude_any?: ShownLabel[];
  /** For Android, the JSON object itself. */
  configuration?: { plist: string } | Readonly<Record<string, unknown>>;
}

/** The token of a location whose licenses the organization has bought. */
interface LocationDetails {
  location: string;
}

export interface SoftwareActivities {
  notified_end_user_before_patching: HostDetails & {
    patch_notification_uuid: string;
    software_titles: readonly string[];
    policy_ids: readonly number[];
    /** Seconds between the message and the installation. */
    time_before: number;
    install_at: string | null;
    status: "notified" | "failed";
    script_execution_id: string;
    exit_code: number | null;
  };
  /** The team's id is 0, and its name empty, for hosts without a team. */
  edited_setup_experience_software: { platform: string; team_id: number; team_name: string };
  added_app_store_app: StoreAppDetails;
  edited_app_store_app: StoreAppDetails & { software_icon_url: string | null; software_display_name: string };
  deleted_app_store_app: Omit<StoreAppDetails, "software_title_id" | "self_service" | "configuration"> & {
    software_icon_url: string | null;
  };
  installed_app_store_app: HostDetails & {
    software_title: string;
    app_store_id: string;
    command_uuid: string;
    status?: string;
    self_service: boolean;
    policy_id: number | null;
    policy_name: string | null;
  };
  installed_software: HostDetails & {
    software_title: string;
    software_package: string;
    self_service: boolean;
    install_uuid: string;
    status: string;
    source?: string;
    policy_id: number | null;
    policy_name: string | null;
  };
  uninstalled_software: HostDetails & {
    software_title: string;
    script_execution_id: string;
    self_service: boolean;
    status: string;
    source?: string;
  };
  installed_all_self_service_software: HostDetails & {
    self_service_category_id: number | null;
    self_service_category_name: string | null;
    software_titles_count: number;
  };
  canceled_install_software: HostDetails & { software_title: string; software_title_id: number };
  /** Null: the title was deleted meanwhile. */
  canceled_setup_experience: HostDetails & { software_title: string; software_title_id: number | null };
  canceled_uninstall_software: HostDetails & { software_title: string; software_title_id: number };
  canceled_install_app_store_app: HostDetails & { software_title: string; software_title_id: number };
  enabled_vpp: LocationDetails;
  renewed_vpp: LocationDetails;
  edited_vpp_teams: LocationDetails;
  disabled_vpp: LocationDetails;
  canceled_run_script: HostDetails & { script_name: string };
  ran_script_batch: BatchDetails & { team_id: number | null };
  scheduled_script_batch: BatchDetails & { team_id: number | null; not_before: string | null };
  canceled_script_batch: BatchDetails & { canceled_count: number };
  ran_script: HostDetails & {
    script_execution_id: string;
    /** Null: not of a batch. */
    batch_execution_id: string | null;
    script_name: string;
    async: boolean;
    policy_id: number | null;
    policy_name: string | null;
  };
  added_software: SoftwareDetails & { software_package: string; software_title_id: number };
  edited_software: SoftwareDetails & {
    software_package: string | null;
    software_title_id: number;
    software_icon_url: string | null;
    software_display_name: string;
  };
  deleted_software: SoftwareDetails & { software_package: string; software_icon_url: string | null };
  added_script: TeamDetails & { script_name: string };
  updated_script: TeamDetails & { script_name: string };
  edited_script: TeamDetails;
  deleted_script: TeamDetails & { script_name: string };
}
