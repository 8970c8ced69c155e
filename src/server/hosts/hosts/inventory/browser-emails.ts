import { tableExists } from "../../../platform/agent-protocol/detail-query.ts";
import { text } from "../../../platform/agent-protocol/rows.ts";
import { writeReportedEmails } from "../emails.ts";
import type { InventorySource } from "./source.ts";

/** Email addresses of the browser profiles on the host. */
export const browserEmailInventory: InventorySource<string[]> = {
  queries: [
    {
      name: "chrome_profiles",
      platforms: "all",
      discovery: tableExists("google_chrome_profiles"),
      sql: "SELECT DISTINCT email FROM google_chrome_profiles WHERE email <> '' AND ephemeral = 0;",
    },
  ],
  read({ rows }) {
    const profiles = rows("chrome_profiles");
    if (profiles === null) return null;
    const emails = new Set(profiles.map((row) => text(row, "email").trim()));
    emails.delete("");
    return [...emails].sort();
  },
  start: () => ({
    plan: async (reported) => ({
      write: (tx) =>
        writeReportedEmails(
          tx,
          reported.map(({ hostId, value }) => ({ hostId, emails: value })),
        ),
    }),
  }),
};
