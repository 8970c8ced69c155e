// The URLs that webhooks are sent to: those that have been used, and those that settings contain.
import { appConfigApi } from "../../../api/settings/app-config.ts";
import { teamsApi } from "../../../api/settings/teams.ts";
import { ApiCallError } from "../../../client/errors.ts";
import { isRecord } from "../../../text/record.ts";
import type { Caller } from "../../resolve.ts";

/** In the settings of the organization, of teams and of hosts without a team, as far as the caller may read them. */
export async function configuredUrls(caller: Caller): Promise<Set<string>> {
  const settings = await Promise.all([
    readable(caller.call(appConfigApi.get, {})),
    readable(caller.call(teamsApi.list, {})),
    readable(caller.call(teamsApi.noTeam, {})),
  ]);
  return new Set(settings.flatMap(urlsIn));
}

/** Null if the caller may not read it, or if the license does not include teams. */
async function readable<T>(call: Promise<T>): Promise<T | null> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof ApiCallError && [402, 403, 404].includes(error.status)) return null;
    throw error;
  }
}

const FIELDS = ["destination_url", "webhook_url"];

function urlsIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(urlsIn);
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([key, field]) =>
    FIELDS.includes(key) && typeof field === "string" && field !== "" ? [field] : urlsIn(field),
  );
}
