import { id, packed, table, text, time } from "../../platform/store/table.ts";

declare module "../../platform/core/tables.ts" {
  interface Tables {
    readonly appleVersionLists: typeof appleVersionLists;
  }
}

export interface AppleVersion {
  /** Versions for iPhones and iPads are in one list. */
  readonly family: "macos" | "ios";
  readonly version: string;
  /** Days, such as 2026-03-01. */
  readonly posted: string;
  /** Null: it is offered until the vendor removes it from the list. */
  readonly expires: string | null;
  /** Identifiers under which devices look for updates: models of iPhones and iPads, boards of Macs. */
  readonly devices: readonly string[];
}

/** One row: the vendor's list as it was last read, for all servers. */
export const appleVersionLists = table("apple_version_lists", {
  id: id(),
  /** Checksum of what the list contains, so that what was computed from it can be compared. */
  checksum: text(),
  read_at: time(),
  versions: packed<readonly AppleVersion[]>(),
});
