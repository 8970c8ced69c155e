import { bool, id, ref, table, text, time } from "../../../platform/store/table.ts";

declare module "../../../platform/core/tables.ts" {
  interface Tables {
    readonly androidDevices: typeof androidDevices;
  }
}

/** Android devices that are managed. */
export const androidDevices = table("android_devices", {
  id: id(),
  created_at: time(),
  /** Name in the API: `enterprises/LC1/devices/2`. */
  name: text().unique(),
  host_id: ref("hosts").unique(),
  /** The device belongs to its user, and only the work profile is managed. */
  is_personal: bool().default(false),
  /** By the vendor's clock. */
  enrolled_at: time().nullable(),
  /** Time of the newest report that was read, by the vendor's clock. */
  reported_at: time().nullable(),
});
