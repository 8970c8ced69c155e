// Where entries of the activity feed are sent.

import type { ConfigSections } from "../../../api/settings/app-config.ts";
import { checkDestination } from "../core/outbound/fetch.ts";
import type { ServerTx } from "../core/tables.ts";
import { eq } from "../store/query.ts";

type ActivitiesWebhook = ConfigSections["webhook_settings"]["activities_webhook"];

/**
 * The URL of the activities webhook; null if it is off. Reads the one row of the settings that has it, because every
 * change that is recorded needs it. Nothing in this section is secret.
 */
export async function activitiesWebhook(store: ServerTx): Promise<string | null> {
  const row = await store.configSections.first({ where: eq("section", "webhook_settings") });
  const hook = row?.value.activities_webhook as Partial<ActivitiesWebhook> | undefined;
  const url = hook?.enable_activities_webhook ? (hook.destination_url ?? "") : "";
  return url !== "" && checkDestination(url) === null ? url : null;
}
