import { leaseColumns } from "../../../platform/core/concurrency/lease.ts";
import { bool, idOf, int, table, text, time } from "../../../platform/store/table.ts";

declare module "../../../platform/core/tables.ts" {
  interface Tables {
    readonly androidPolicies: typeof androidPolicies;
    readonly androidHostProfiles: typeof androidHostProfiles;
  }
}

/** The policy of each Android device. The vendor applies it, and the device reports the version that it has applied. */
export const androidPolicies = table("android_policies", {
  id: idOf("hosts"),
  /** Whether the policy is to be sent. */
  due: bool().index(),
  /** A random id of what it should contain: another one means that more has changed while it was sent. */
  wanted: text(),
  /** The vendor's number of what was sent last; 0: nothing. */
  version: int().default(0),
  /** A digest of what was sent to the agent last; empty: nothing. */
  agent: text().default(""),
  /** Sending has failed, and is repeated then. */
  retry_at: time().nullable(),
  /** In a row. */
  failures: int().default(0),
  ...leaseColumns,
});

/** Profiles as their hosts get them, with the host's values in place of variables. */
export const androidHostProfiles = table("android_host_profiles", {
  id: idOf("host_profiles"),
  content: text().secret(),
});
