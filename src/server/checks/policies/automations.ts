// Failing-policy automations: which policies have one, and the queued events of newly failing hosts.
import { isDeepStrictEqual } from "node:util";
import type { FailingPoliciesMail, FailingPoliciesWebhook } from "../../../api/settings/app-config.ts";
import { channels } from "../../platform/core/channels.ts";
import { type Context, type Services, within } from "../../platform/core/context.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq, exists, has, not, oneOf } from "../../platform/store/query.ts";
import { readSection, writeSection } from "../../settings/app-config/rows.ts";
import { sections } from "../../settings/app-config/sections.ts";
import { noWebhooks } from "../../settings/teams/defaults.ts";
import { noTeamSettings, writeNoTeam } from "../../settings/teams/no-team.ts";
import type { TeamSettings } from "../../settings/teams/tables.ts";
import { writeTeamRows } from "../../settings/teams/write.ts";
import { type TeamTrackers, trackerOfTeam, trackerWith } from "../../settings/tickets/destination.ts";
import type { Tracker } from "../../settings/tickets/trackers.ts";
import { type Place, type PolicyRow, placeOf } from "./applies.ts";
import { policyEvents } from "./tables.ts";

/** The failing-policy settings of one scope (global, one team, or no team). */
export interface PolicyAutomation extends Place {
  readonly policyIds: readonly number[];
  /** At most one of the two recipients is set. */
  readonly webhook: { readonly url: string; readonly batchSize: number } | null;
  readonly tracker: Tracker | null;
  /** In addition to a webhook or tickets. */
  readonly mail: { readonly recipients: readonly string[]; readonly digest: FailingPoliciesMail["digest"] } | null;
}

/**
 * The enabled automations: global policies are configured in the app configuration, others in their team's settings.
 */
export async function policyAutomations({
  store,
  config,
}: Pick<Services, "config"> & { store: ServerTx }): Promise<PolicyAutomation[]> {
  const { webhook_settings, integrations } = await config.current();
  const teams = await store.teams.pick(["id", "settings"], { order: [{ column: "id", direction: "asc" }] });
  const noTeam = await noTeamSettings(store);
  const global = trackerWith(integrations, "enable_failing_policies");
  const chosen = (teamTrackers: TeamTrackers | undefined) => teamTrackers && trackerOfTeam(integrations, teamTrackers);
  return [
    automation(placeOf(null), webhook_settings, global),
    automation(placeOf(0), noTeam.webhook_settings, chosen(noTeam.integrations)),
    ...teams.map(({ id, settings }) =>
      automation(placeOf(id), settings.webhook_settings, chosen(settings.integrations)),
    ),
  ].filter(
    (automation) =>
      automation.policyIds.length > 0 && (automation.webhook ?? automation.tracker ?? automation.mail) !== null,
  );
}

const automation = (
  place: Place,
  hooks: TeamSettings["webhook_settings"],
  tracker: Tracker | null | undefined,
): PolicyAutomation => {
  const hook = hooks?.failing_policies_webhook;
  const mail = hooks?.failing_policies_mail;
  return {
    ...place,
    policyIds: hook?.policy_ids ?? [],
    webhook: hook?.enable_failing_policies_webhook
      ? { url: hook.destination_url, batchSize: hook.host_batch_size }
      : null,
    tracker: tracker ?? null,
    mail: mail?.enable_failing_policies_mail ? { recipients: mail.recipients, digest: mail.digest } : null,
  };
};

/** The ids of all policies with an enabled automation. */
export async function automatedPolicies(
  services: Pick<Services, "config"> & { store: ServerTx },
): Promise<ReadonlySet<number>> {
  return new Set((await policyAutomations(services)).flatMap(({ policyIds }) => policyIds));
}

/** Queues an event for each host that newly fails a policy, unless one is already queued. */
export async function recordFailing(
  store: ServerTx,
  pairs: readonly { readonly policy_id: number; readonly host_id: number }[],
  at: string,
): Promise<void> {
  if (pairs.length === 0) return;
  await store.policyEvents.upsert(
    pairs.map((pair) => ({ ...pair, at, is_reported: false, is_mailed: false })),
    // One that has been used by one of two automations is for both again.
    { on: ["policy_id", "host_id"], set: ["is_reported", "is_mailed"], returning: [] },
  );
}

/** `recordFailing` for policies that do something with failing hosts: whoever does it is notified. */
export async function recordActions(
  store: ServerTx,
  pairs: readonly { readonly policy_id: number; readonly host_id: number }[],
  at: string,
): Promise<void> {
  if (pairs.length === 0) return;
  await store.policyInstalls.upsert(
    pairs.map((pair) => ({ ...pair, at })),
    { on: ["policy_id", "host_id"], set: [], returning: [] },
  );
  await store.notify(channels.policyInstalls, "");
}

/** Whether the policy does something with hosts that newly fail it. */
export const acts = (policy: Pick<PolicyRow, "software_title_id" | "script_id" | "resend_profile_uuid">): boolean =>
  policy.software_title_id !== null || policy.script_id !== null || policy.resend_profile_uuid !== null;

/** False if another server has taken it. Runs in the transaction that acts on it. */
export const takeAction = async (store: ServerTx, id: number): Promise<boolean> =>
  (await store.policyInstalls.delete(eq("id", id))) > 0;

/** The script that notifies the user of the host before the action. */
export async function setNotice(store: ServerTx, id: number, notice_uuid: string): Promise<void> {
  await store.policyInstalls.update({ where: eq("id", id), set: { notice_uuid } });
}

const unused = and(eq("is_reported", false), eq("is_mailed", false));

/** Hosts per write while resetting a policy. */
const BATCH_SIZE = 1000;
const READ_BATCH_SIZE = 5_000;

/** Queues an event for every host that fails the policy. */
export async function resetPolicy(store: ServerTx, policy: PolicyRow, at: string): Promise<void> {
  const unqueued = and(
    has("failing", policy.result_id),
    not(exists(policyEvents, "host_id", and(eq("policy_id", policy.id), unused))),
  );
  for (;;) {
    const hosts = await store.hostPolicies.pick(["id"], { where: unqueued, limit: BATCH_SIZE });
    await recordFailing(
      store,
      hosts.map(({ id }) => ({ policy_id: policy.id, host_id: id })),
      at,
    );
    if (hosts.length < BATCH_SIZE) return;
  }
}

/** Forgets what the policy has done with hosts. What was queued may be gone at once, so no host is read twice. */
export async function resetActions(store: ServerTx, policy: PolicyRow, at: string): Promise<void> {
  for await (const hosts of store.hostPolicies.pages({ where: has("failing", policy.result_id) }, BATCH_SIZE, ["id"]))
    await recordActions(
      store,
      hosts.map(({ id }) => ({ policy_id: policy.id, host_id: id })),
      at,
    );
}

/** Removes deleted policies from the configuration. */
export const forgetInConfig = (ctx: Context, policyIds: readonly number[]): Promise<void> =>
  ctx.store.tx((store) => setReported(within(ctx, store), [{ place: placeOf(null), on: [], off: policyIds }]), {
    lock: "config",
  });

export interface ReportedPolicies {
  readonly place: Place;
  readonly on: readonly number[];
  readonly off: readonly number[];
}

/**
 * Sets which policies the failing-policy webhooks and tickets of these scopes report. Runs in the caller's transaction,
 * which must hold the lock "config" and, for teams, "enroll_secrets".
 */
export async function setReported(inside: Context, changes: readonly ReportedPolicies[]): Promise<void> {
  const { store } = inside;
  const now = inside.clock.iso();
  const ofTeams = new Map<number, ReportedPolicies>();
  for (const change of changes) {
    if (change.place.scope === "team") ofTeams.set(change.place.team_id!, change);
    else if (change.place.scope === "no_team") {
      const settings = await noTeamSettings(store);
      const webhook_settings = withPolicies(settings.webhook_settings, change);
      if (webhook_settings) await writeNoTeam(inside, { ...settings, webhook_settings });
    } else {
      const value = withPolicies(await readSection(store, sections.webhook_settings), change);
      if (!value) continue;
      await writeSection(store, sections.webhook_settings, value, now);
      await store.notify(channels.config, "webhook_settings");
    }
  }
  if (ofTeams.size === 0) return;
  const rows = await store.teams.pick(["id", "settings"], { where: oneOf("id", [...ofTeams.keys()]) });
  const changed = rows.flatMap(({ id, settings }) => {
    const webhook_settings = withPolicies(settings.webhook_settings ?? noWebhooks, ofTeams.get(id)!);
    return webhook_settings ? [{ id, settings: { ...settings, webhook_settings } }] : [];
  });
  await writeTeamRows(inside, changed);
}

/** The webhook settings with the changed policies; null if nothing changes. */
function withPolicies<T extends { failing_policies_webhook: FailingPoliciesWebhook }>(
  hooks: T,
  { on, off }: ReportedPolicies,
): T | null {
  const before = hooks.failing_policies_webhook.policy_ids;
  const gone = new Set(off);
  const policy_ids = [...new Set([...before.filter((id) => !gone.has(id)), ...on])];
  if (isDeepStrictEqual(policy_ids, before)) return null;
  return { ...hooks, failing_policies_webhook: { ...hooks.failing_policies_webhook, policy_ids } };
}

export async function deleteEvents(store: ServerTx, ids: readonly number[]): Promise<void> {
  await store.policyEvents.delete(oneOf("id", ids));
}

/** The webhook or ticket is queued. Events that still wait for the mail are kept. */
export async function endReported(store: ServerTx, ids: readonly number[], waitsForMail: boolean): Promise<void> {
  if (!waitsForMail) return deleteEvents(store, ids);
  await store.policyEvents.delete(and(oneOf("id", ids), eq("is_mailed", true)));
  await store.policyEvents.update({ where: oneOf("id", ids), set: { is_reported: true } });
}

/** The mail is queued. Events that still wait for the webhook or ticket are kept. */
export async function endMailed(store: ServerTx, ids: readonly number[], waitsForReport: boolean): Promise<void> {
  if (!waitsForReport) return deleteEvents(store, ids);
  await store.policyEvents.delete(and(oneOf("id", ids), eq("is_reported", true)));
  await store.policyEvents.update({ where: oneOf("id", ids), set: { is_mailed: true } });
}

/** The hosts that still fail the policy: others were transferred or pass again. */
export async function stillFailing(store: ServerTx, policy: PolicyRow, hostIds: readonly number[]): Promise<number[]> {
  const failing: number[] = [];
  for (let at = 0; at < hostIds.length; at += READ_BATCH_SIZE) {
    const where = and(oneOf("id", hostIds.slice(at, at + READ_BATCH_SIZE)), has("failing", policy.result_id));
    failing.push(...(await store.hostPolicies.pick(["id"], { where })).map(({ id }) => id));
  }
  return failing;
}

/** Maximum number of queued events; the oldest are dropped. */
const EVENTS_MAX = 200_000;

export async function trimEvents(store: ServerTx): Promise<number> {
  const over = (await store.policyEvents.count()) - EVENTS_MAX;
  if (over <= 0) return 0;
  const oldest = [{ column: "at", direction: "asc" }] as const;
  const old = await store.policyEvents.pick(["id"], { order: oldest, limit: Math.min(over, 20_000) });
  return store.policyEvents.delete(
    oneOf(
      "id",
      old.map(({ id }) => id),
    ),
  );
}
