// Webhooks, tickets and mails about hosts that begin to fail policies. The settings of the policy's scope say which of
// them are on, and about which policies.
import {
  appConfigApi,
  type FailingPoliciesMail,
  type FailingPoliciesWebhook,
} from "../../../../api/settings/app-config.ts";
import { teamsApi } from "../../../../api/settings/teams.ts";
import { client, useRead } from "../../../api.ts";
import { roleTeam } from "../../../parts/one-team.tsx";
import { may } from "../../../session.ts";

interface Settings {
  readonly webhook_settings: {
    readonly failing_policies_webhook: FailingPoliciesWebhook;
    readonly failing_policies_mail: FailingPoliciesMail;
  };
  readonly integrations: Readonly<
    Record<
      "ticketing_a" | "ticketing_b",
      readonly { readonly url: string; readonly enable_failing_policies: boolean }[]
    >
  >;
}

export interface Reports {
  readonly policyIds: readonly number[];
  /** What is on, in words. */
  readonly destinations: readonly string[];
}

/** Undefined until they are read. `teamId`: 0 for hosts without a team, null for all hosts. */
export function useReports(teamId: number | null): Reports | undefined {
  const config = useRead(appConfigApi.get, {}, { enabled: teamId === null });
  const noTeam = useRead(teamsApi.noTeam, {}, { enabled: teamId === 0 });
  const team = useRead(teamsApi.get, { params: { id: teamId ?? 0 } }, { enabled: teamId !== null && teamId > 0 });
  const settings = teamId === null ? config.data : teamId === 0 ? noTeam.data?.team : team.data?.team;
  return settings && reportsOf(settings);
}

function reportsOf({ webhook_settings, integrations }: Settings): Reports {
  const { failing_policies_webhook: webhook, failing_policies_mail: mail } = webhook_settings;
  const trackers = [...integrations.ticketing_a, ...integrations.ticketing_b];
  return {
    policyIds: webhook.policy_ids,
    destinations: [
      ...(webhook.enable_failing_policies_webhook ? [`webhook to ${webhook.destination_url}`] : []),
      ...trackers.filter((tracker) => tracker.enable_failing_policies).map(({ url }) => `ticket at ${url}`),
      ...(mail.enable_failing_policies_mail ? [`mail to ${mail.recipients.join(", ")}`] : []),
    ],
  };
}

/** Whether the user may decide which policies are reported. */
export const mayReport = (teamId: number | null): boolean =>
  teamId === null ? may("config:write", null) : may("teams:edit", roleTeam(teamId));

async function readReports(teamId: number | null): Promise<Reports> {
  if (teamId === null) return reportsOf(await client.call(appConfigApi.get));
  if (teamId === 0) return reportsOf((await client.call(teamsApi.noTeam)).team);
  return reportsOf((await client.call(teamsApi.get, { params: { id: teamId } })).team);
}

/** Lists the policy among those that are reported, or not. The list is read before, since others may have changed it. */
export async function setReported(teamId: number | null, policyId: number, isReported: boolean): Promise<void> {
  const others = (await readReports(teamId)).policyIds.filter((id) => id !== policyId);
  const policy_ids = isReported ? [...others, policyId] : others;
  const body = { webhook_settings: { failing_policies_webhook: { policy_ids } } };
  if (teamId === null) await client.call(appConfigApi.modify, { body });
  else if (teamId === 0) await client.call(teamsApi.modifyNoTeam, { body });
  else await client.call(teamsApi.modify, { params: { id: teamId }, body });
}
