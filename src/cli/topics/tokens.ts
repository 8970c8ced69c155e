import { ApiToken } from "../../api/accounts/tokens.ts";
import type { View } from "../output/output.ts";
import { timeColumn } from "../output/time-column.ts";

export const tokenView = (relative: boolean, now: Date): View => ({
  schema: () => ApiToken,
  columns: [
    { key: "id" },
    { key: "name" },
    timeColumn("accessed_at", "last used", relative, now, "never"),
    timeColumn("expires_at", "ends", relative, now),
    {
      key: "endpoints",
      header: "limited to",
      text: (value) => (Array.isArray(value) ? value.join(", ") : ""),
    },
  ],
});
