import { id, real, ref, table, text, time } from "../store/table.ts";

declare module "../core/tables.ts" {
  interface Tables {
    readonly hostUsage: typeof hostUsage;
  }
}

/** How much of each limit over time a host has used. No row: nothing. */
export const hostUsage = table(
  "host_usage",
  {
    id: id(),
    host_id: ref("hosts"),
    limit_name: text(),
    /** The amount in use at `updated_at`. It falls to zero within the limit's period. */
    used: real(),
    updated_at: time(),
    /** A digest of what was granted last, where equal ones are merged. */
    last_digest: text().default(""),
  },
  { unique: [["host_id", "limit_name"]] },
);
