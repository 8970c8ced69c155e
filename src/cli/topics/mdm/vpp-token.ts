// Columns of tokens of the license program.
import { VppToken } from "../../../api/delivery/vpp.ts";
import type { View } from "../../output/output.ts";
import { timeColumn } from "../../output/time-column.ts";

export const vppTokenView = (relative: boolean, now: Date): View => ({
  schema: () => VppToken,
  columns: [
    { key: "id" },
    { key: "location" },
    { key: "org_name", header: "organization", spare: 1 },
    timeColumn("renew_date", "renew before", relative, now),
    { key: "teams", text: teamsText },
    { key: "terms_expired", header: "new terms", spare: 2 },
  ],
});

function teamsText(teams: unknown): string {
  if (!Array.isArray(teams)) return "none";
  return teams.length === 0 ? "all teams" : teams.map(({ name }: { name: string }) => name).join(", ");
}
