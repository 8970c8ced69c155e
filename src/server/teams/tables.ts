import type { AgentOptions, FailingPoliciesWebhook, Features } from "../../api/app-config.ts";
import { id, json, table, text, time } from "../store/table.ts";

export interface TeamSettings {
  host_expiry_settings: { host_expiry_enabled: boolean; host_expiry_window: number };
  features: Features;
  /** Absent: the team has none. */
  webhook_settings?: { failing_policies_webhook: FailingPoliciesWebhook };
}

export const teams = table("teams", {
  id: id(),
  created_at: time(),
  updated_at: time(),
  /** NFC, trimmed. */
  name: text().search(),
  /** The name's form for uniqueness: NFC, lower case. */
  name_key: text().unique(),
  description: text().default(""),
  agent_options: json<AgentOptions>().nullable(),
  settings: json<TeamSettings>(),
});
