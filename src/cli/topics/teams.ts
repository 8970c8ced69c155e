import * as Flags from "@oclif/core/flags";
import { Team } from "../../api/settings/teams.ts";
import type { View } from "../output/output.ts";

export const teamView: View = {
  schema: () => Team,
  columns: [
    { key: "id" },
    { key: "name" },
    { key: "description" },
    { key: "host_count", header: "hosts" },
    { key: "user_count", header: "users" },
  ],
};

export const teamFlags = {
  description: Flags.string({ summary: "Purpose of the team." }),
  "host-activities-webhook": Flags.string({
    summary: "Send activities of the team's hosts to this URL; an empty one turns it off.",
    helpValue: "URL",
  }),
  "host-expiry-enabled": Flags.boolean({
    summary: "Delete hosts that have not been seen for a number of days.",
    allowNo: true,
  }),
  "host-expiry-window": Flags.integer({ summary: "Number of days after which such a host is deleted.", min: 1 }),
};

/** The body fields from the flags. */
export function teamFields(flags: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const expiry = {
    ...(flags["host-expiry-enabled"] === undefined ? {} : { host_expiry_enabled: flags["host-expiry-enabled"] }),
    ...(flags["host-expiry-window"] === undefined ? {} : { host_expiry_window: flags["host-expiry-window"] }),
  };
  const url = flags["host-activities-webhook"];
  return {
    ...(url === undefined ? {} : { webhook_settings: { host_activities_webhook: hostActivitiesWebhook(url) } }),
    ...(flags.description === undefined ? {} : { description: flags.description }),
    ...(Object.keys(expiry).length === 0 ? {} : { host_expiry_settings: expiry }),
  };
}

const hostActivitiesWebhook = (url: unknown) => ({ enable_host_activities_webhook: url !== "", destination_url: url });
