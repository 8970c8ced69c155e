import { leaseColumns } from "../../platform/core/concurrency/lease.ts";
import { id, idOf, int, ref, table, text, time } from "../../platform/store/table.ts";

declare module "../../platform/core/tables.ts" {
  interface Tables {
    readonly conditionalAccessKeys: typeof conditionalAccessKeys;
    readonly conditionalAccessRequests: typeof conditionalAccessRequests;
    readonly conditionalAccessBypasses: typeof conditionalAccessBypasses;
    readonly directoryDevices: typeof directoryDevices;
    readonly directoryReporting: typeof directoryReporting;
  }
}

/** The key of this identity provider: one row, created when it is first needed. */
export const conditionalAccessKeys = table("conditional_access_keys", {
  id: id(),
  name: text().unique(),
  created_at: time(),
  /** DER in base64. */
  certificate: text(),
  /** PKCS #8, PEM. */
  key: text().secret(),
});

/** Sign-in requests that were answered. Each is answered once, by whichever server. */
export const conditionalAccessRequests = table("conditional_access_requests", {
  id: id(),
  /** SHA-256 of the request's ID in hex. */
  digest: text().unique(),
  expires_at: time().index(),
});

/** Hosts whose next sign-in passes although they fail policies. */
export const conditionalAccessBypasses = table("conditional_access_bypasses", {
  id: idOf("hosts"),
  expires_at: time().index(),
});

/** The hosts' devices in the directory, and what was reported of them. */
export const directoryDevices = table("directory_devices", {
  id: id(),
  /** Null: the host was deleted, or is another device now, so the directory must not trust this one any more. */
  host_id: ref("hosts").nullable().unique(),
  /** GUID in lower case, as the host's agent finds it. */
  device_id: text().index(),
  /** GUID of its directory in lower case; empty: the host does not know it. */
  tenant_id: text().default(""),
  /** The account that registered it; empty: unknown. */
  user_principal_name: text().default(""),
  updated_at: time(),
  /** What the directory `reported_tenant` has accepted last. */
  reported: text<"" | "compliant" | "noncompliant">().default(""),
  reported_tenant: text().default(""),
  reported_at: time().nullable(),
  /** When the device is compared with the host's policies next; null: nothing has changed. */
  due_at: time().nullable().index(),
  failures: int().default(0),
  last_error: text().default(""),
  ...leaseColumns,
});

/** How the directory accepts reports: at most one row. */
export const directoryReporting = table("directory_reporting", {
  id: id(),
  name: text().unique(),
  /** The directory is sent nothing before this time. */
  paused_until: time().nullable(),
  last_reported_at: time().nullable(),
  failures: int().default(0),
  last_error: text().default(""),
});
