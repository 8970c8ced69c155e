import { id, json, ref, table, text } from "../../../platform/store/table.ts";

declare module "../../../platform/core/tables.ts" {
  interface Tables {
    readonly windowsProfileNodes: typeof windowsProfileNodes;
  }
}

/** The nodes that a profile has set on a host, which outlive the profile until they are removed there. */
export const windowsProfileNodes = table(
  "windows_profile_nodes",
  {
    id: id(),
    host_id: ref("hosts"),
    profile_uuid: text(),
    /** LocURIs of the nodes. */
    nodes: json<readonly string[]>(),
    /** Nodes that the present content does not set, and the command that deletes them. */
    obsolete: json<readonly string[]>().default([]),
    deleting: text().nullable(),
  },
  { unique: [["host_id", "profile_uuid"]] },
);
