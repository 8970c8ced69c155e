import { bool, id, idOf, packed, ref, table, text, time } from "../../../platform/store/table.ts";

declare module "../../../platform/core/tables.ts" {
  interface Tables {
    readonly appleUpdates: typeof appleUpdates;
    readonly appleUpdateReports: typeof appleUpdateReports;
    readonly declarationAssets: typeof declarationAssets;
  }
}

/** The update deadline of a host, as it was declared last. A row for each host that has one. */
export const appleUpdates = table("apple_updates", {
  id: idOf("hosts"),
  /** Empty: it is the newest for the device, which is not known yet. */
  version: text(),
  deadline: text(),
  /** False: the system of the host is too old for declarations of updates. */
  is_declared: bool(),
  /** What the newest version was computed from: the setting and the vendor's list. Empty for other deadlines. */
  basis: text().default(""),
});

/** What devices report about updates of their system. */
export const appleUpdateReports = table("apple_update_reports", {
  id: idOf("hosts"),
  /** The name by which the device looks for updates. */
  device: text().default(""),
  install_state: text().default(""),
  pending_version: text().default(""),
  /** Why an update could not be installed; empty: none failed. */
  failure: text().default(""),
  /** Whether the device has accepted the deadline that it has now. */
  is_accepted: bool().default(false),
  /** Why the device does not accept the update; empty: it has not refused. */
  refusal: text().default(""),
  reported_at: time(),
});

/** What declarations refer to: credentials and files, for example. */
export const declarationAssets = table(
  "declaration_assets",
  {
    id: id(),
    uuid: text().unique(),
    team_id: ref("teams").nullable().onDelete("cascade"),
    /** Name of the file. */
    name: text(),
    identifier: text(),
    /** SHA-256 of the content, hexadecimal. */
    checksum: text(),
    /** The file, base64. */
    content: packed<string>(),
    created_at: time(),
    updated_at: time(),
  },
  { unique: [["team_id", "identifier"]] },
);
