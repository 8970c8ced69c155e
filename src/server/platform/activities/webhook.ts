// Where entries of the activity feed are sent.

import type { ConfigSections, HostActivitiesWebhook } from "../../../api/settings/app-config.ts";
import { parts } from "../core/concurrency/parts.ts";
import { groupBy } from "../core/maps.ts";
import { checkDestination } from "../core/outbound/fetch.ts";
import type { ServerTx } from "../core/tables.ts";
import { oneOf } from "../store/query.ts";
import type { HostTeams, LinkedHosts } from "./hosts.ts";
import { NO_TEAM } from "./search.ts";
import type { HostActivitiesRequest } from "./tables.ts";

type ActivitiesWebhook = ConfigSections["webhook_settings"]["activities_webhook"];

/** The URLs of the webhooks that are on; null for one that is off. */
export interface ActivityWebhooks {
  readonly activities: string | null;
  readonly allHosts: string | null;
  readonly ofTeams: ReadonlyMap<number, string>;
}

/**
 * Reads only the rows of the settings that have webhooks for these teams, because every change that is recorded needs
 * them. Nothing in them is secret.
 */
export async function activityWebhooks(store: ServerTx, teamIds: ReadonlySet<number>): Promise<ActivityWebhooks> {
  const names = ["webhook_settings", ...(teamIds.has(NO_TEAM) ? ["no_team"] : [])];
  const rows = await store.configSections.list({ where: oneOf("section", names) });
  const sections = new Map(rows.map(({ section, value }) => [section, value]));
  const global = sections.get("webhook_settings");
  const all = global?.activities_webhook as Partial<ActivitiesWebhook> | undefined;
  const noTeam = sections.get("no_team")?.webhook_settings as Hooks | undefined;
  const hooks: [teamId: number, hook: Hooks["host_activities_webhook"]][] = [
    [NO_TEAM, noTeam?.host_activities_webhook],
  ];
  for await (const batch of parts([...teamIds].filter((id) => id !== NO_TEAM)))
    for (const { id, settings } of await store.teams.pick(["id", "settings"], { where: oneOf("id", batch) }))
      hooks.push([id, settings.webhook_settings?.host_activities_webhook]);
  return {
    activities: urlOf(all?.enable_activities_webhook, all?.destination_url),
    allHosts: hostUrlOf((global as Hooks | undefined)?.host_activities_webhook),
    ofTeams: new Map(
      hooks.flatMap(([id, hook]) => {
        const url = hostUrlOf(hook);
        return url === null ? [] : [[id, url] as const];
      }),
    ),
  };
}

interface Hooks {
  readonly host_activities_webhook?: Partial<HostActivitiesWebhook> | null;
}

const hostUrlOf = (hook: Hooks["host_activities_webhook"]): string | null =>
  urlOf(hook?.enable_host_activities_webhook, hook?.destination_url);

const urlOf = (isOn = false, url = ""): string | null =>
  isOn && url !== "" && checkDestination(url) === null ? url : null;

/** The requests of an entry that concerns these hosts, one for each webhook; null if there are none. */
export function hostRequests(
  { ids, isList }: LinkedHosts,
  teams: HostTeams,
  { allHosts, ofTeams }: ActivityWebhooks,
): HostActivitiesRequest[] | null {
  if (ids.length === 0 || (allHosts === null && ofTeams.size === 0)) return null;
  const requests: HostActivitiesRequest[] = [];
  if (allHosts !== null) requests.push({ url: allHosts, team_id: null, host_ids: isList ? ids : null });
  const places = ids.flatMap((id) => (teams.get(id) ?? []).map((teamId) => ({ id, teamId })));
  for (const [teamId, theirs] of groupBy(places, ({ teamId }) => teamId)) {
    const url = ofTeams.get(teamId);
    if (url === undefined) continue;
    requests.push({ url, team_id: teamId, host_ids: isList ? theirs.map(({ id }) => id) : null });
  }
  return requests.length === 0 ? null : requests;
}
