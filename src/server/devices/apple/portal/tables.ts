import { bool, id, json, ref, table, text, time } from "../../../platform/store/table.ts";

declare module "../../../platform/core/tables.ts" {
  interface Tables {
    readonly portalKeys: typeof portalKeys;
    readonly abmTokens: typeof abmTokens;
    readonly setupAssistants: typeof setupAssistants;
    readonly portalProfiles: typeof portalProfiles;
    readonly portalDevices: typeof portalDevices;
  }
}

/** The key pair to which the portal encrypts its tokens. There is one row. */
export const portalKeys = table("portal_keys", {
  id: id(),
  /** Always "portal", so that two servers cannot both create one. */
  name: text().unique(),
  created_at: time(),
  certificate: text(),
  private_key: text().secret(),
});

/** Access to one organization's devices in the business portal. */
export const abmTokens = table("abm_tokens", {
  id: id(),
  created_at: time(),
  /** The e-mail address of the administrator who downloaded the token. */
  vendora_id: text(),
  org_name: text(),
  /** The portal's id of this device-management server: a renewed token has the same. */
  server_uuid: text().unique(),
  /** The OAuth credentials, as JSON. */
  credentials: text().secret(),
  renew_date: time().index(),
  /** The organization has to accept new terms in the portal. */
  terms_expired: bool().default(false),
  /** The portal refuses the token: it has expired or was replaced. */
  token_invalid: bool().default(false),
  macos_team_id: ref("teams").nullable(),
  ios_team_id: ref("teams").nullable(),
  ipados_team_id: ref("teams").nullable(),
  byod_team_id: ref("teams").nullable(),
  /** Where the next synchronization starts; empty: all devices are requested. */
  cursor: text().default(""),
  /** Whether all devices were read with earlier cursors: from then on, the cursor is one of changes. */
  is_complete: bool().default(false),
  /** When the first page of all devices was requested. Devices that no page has named since then are gone. */
  full_since: time().nullable(),
  synced_at: time().nullable(),
  /** The portal has asked to be left alone until then. */
  busy_until: time().nullable(),
  /** Why the last synchronization failed; empty: it did not. */
  sync_error: text().default(""),
});

/** The setup assistant profile of a team, as uploaded. */
export const setupAssistants = table("setup_assistants", {
  id: id(),
  /** The team's id as text, or "none": hosts without a team. */
  team_key: text().unique(),
  team_id: ref("teams").nullable().onDelete("cascade"),
  name: text(),
  uploaded_at: time(),
  enrollment_profile: json<Record<string, unknown>>(),
});

/** Profiles that are known to the portal, by their content. */
export const portalProfiles = table(
  "portal_profiles",
  { id: id(), created_at: time(), token_id: ref("abm_tokens"), digest: text(), profile_uuid: text() },
  { unique: [["token_id", "digest"]] },
);

export type AssignResponse = "" | "SUCCESS" | "NOT_ACCESSIBLE" | "FAILED" | "THROTTLED";

/** A device that the portal assigns to this server. */
export const portalDevices = table(
  "portal_devices",
  {
    id: id(),
    serial: text().unique(),
    token_id: ref("abm_tokens"),
    host_id: ref("hosts").nullable(),
    family: text<"macos" | "ios" | "ipados">(),
    model: text().default(""),
    added_at: time(),
    /** When a page last named the device. */
    seen_at: time(),
    /** When the portal last changed the assignment. Older changes are ignored. */
    changed_at: time(),
    deleted_at: time().nullable(),
    /** The portal's id of the assigned profile; empty: none. */
    profile_uuid: text().default(""),
    response: text<AssignResponse>().default(""),
    response_at: time().nullable(),
    /** A failed assignment is not repeated before this time. */
    retry_at: time().nullable().index(),
    migration_deadline: time().nullable(),
  },
  { indexes: [["token_id", "deleted_at"]] },
);
