import type { ProfileStatus } from "../../../api/devices/profiles.ts";
import { idOf, int, table, text, time } from "../../platform/store/table.ts";

declare module "../../platform/core/tables.ts" {
  interface Tables {
    readonly hostSettings: typeof hostSettings;
  }
}

export type SettingStatus = ProfileStatus;

/** The status of hosts' settings by kind, and the worst of them. Null: the host has no setting of this kind. */
export const hostSettings = table(
  "host_settings",
  {
    id: idOf("hosts"),
    profiles: text<SettingStatus>().nullable(),
    disk_encryption: text<SettingStatus>().nullable(),
    recovery_lock: text<SettingStatus>().nullable(),
    host_name: text<SettingStatus>().nullable(),
    /** The worst of the above. */
    status: text<SettingStatus>().nullable().index(),
    /** The host's team, so that statuses are counted by their index. `NO_TEAM`: none. Null: not recorded yet. */
    team: int().nullable(),
    /** When the host's profiles last changed; null: never. */
    profiles_changed_at: time().nullable(),
  },
  { indexes: [["team", "status"]] },
);

export const NO_TEAM = 0;
