import { bool, id, idOf, packed, ref, table, text, time } from "../../../store/table.ts";

declare module "../../../core/tables.ts" {
  interface Tables {
    readonly appleUpdates: typeof appleUpdates;
    readonly declarationAssets: typeof declarationAssets;
  }
}

/** The update deadline of a host, as it was declared last. A row for each host that has one. */
export const appleUpdates = table("apple_updates", {
  id: idOf("hosts"),
  version: text(),
  deadline: text(),
  /** False: the system of the host is too old for declarations of updates. */
  is_declared: bool(),
});

/** What declarations refer to: credentials and files, for example. */
export const declarationAssets = table(
  "declaration_assets",
  {
    id: id(),
    uuid: text().unique(),
    team_id: ref("teams").nullable().onDelete("cascade"),
    /** Of the file. */
    name: text(),
    identifier: text(),
    /** Of the content: SHA-256, hexadecimal. */
    checksum: text(),
    /** The file, base64. */
    content: packed<string>(),
    created_at: time(),
    updated_at: time(),
  },
  { unique: [["team_id", "identifier"]] },
);
