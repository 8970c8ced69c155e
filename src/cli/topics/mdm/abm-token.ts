// Columns of the business portal's tokens.
import { AbmToken } from "../../../api/devices/abm.ts";
import type { View } from "../../output/output.ts";
import { timeColumn } from "../../output/time-column.ts";

export const abmTokenView = (relative: boolean, now: Date): View => ({
  schema: () => AbmToken,
  columns: [
    { key: "id" },
    { key: "org_name", header: "organization" },
    { key: "vendora_id", header: "administrator", spare: 1 },
    timeColumn("renew_date", "renew before", relative, now),
    { key: "macos_team.name", header: "team of macs" },
    { key: "ios_team.name", header: "of iphones" },
    { key: "ipados_team.name", header: "of ipads" },
    { key: "terms_expired", header: "new terms", spare: 2 },
    { key: "token_invalid", header: "refused" },
  ],
});
