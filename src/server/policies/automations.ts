// Which policies tell somebody when hosts newly fail them, and what is kept for that until it is told.
import { isDeepStrictEqual } from "node:util";
import type { FailingPoliciesWebhook } from "../../api/app-config.ts";
import { readSection, writeSection } from "../app-config/rows.ts";
import { sections } from "../app-config/sections.ts";
import { channels } from "../core/channels.ts";
import { type Context, type Services, within } from "../core/context.ts";
import { and, eq, exists, has, not, oneOf } from "../store/query.ts";
import type { ServerTx } from "../tables.ts";
import { noWebhooks } from "../teams/defaults.ts";
import { noTeamSettings, writeNoTeam } from "../teams/no-team.ts";
import { type TeamTrackers, trackerOfTeam, trackerWith } from "../tickets/destination.ts";
import type { Tracker } from "../tickets/trackers.ts";
import { type Place, type PolicyRow, placeOf } from "./applies.ts";
import { policyEvents } from "./tables.ts";

/** What the settings of one place (all hosts, a team's, those of no team) say of its policies' failing hosts. */
export interface PolicyAutomation extends Place {
  readonly policyIds: readonly number[];
  /** Who is told; one of them. */
  readonly webhook: { readonly url: string; readonly batchSize: number } | null;
  readonly tracker: Tracker | null;
}

/** The automations that are on: of the configuration for global policies, of teams' settings for theirs. */
export async function policyAutomations({
  store,
  config,
}: Pick<Services, "config"> & { store: ServerTx }): Promise<PolicyAutomation[]> {
  const { webhook_settings, integrations } = await config.current();
  const teams = await store.teams.pick(["id", "settings"], { order: [{ column: "id", direction: "asc" }] });
  const noTeam = await noTeamSettings(store);
  const global = trackerWith(integrations, "enable_failing_policies");
  const chosen = (own: TeamTrackers | undefined) => own && trackerOfTeam(integrations, own);
  return [
    automation(placeOf(null), webhook_settings.failing_policies_webhook, global),
    automation(placeOf(0), noTeam.webhook_settings.failing_policies_webhook, chosen(noTeam.integrations)),
    ...teams.map(({ id, settings }) =>
      automation(placeOf(id), settings.webhook_settings?.failing_policies_webhook, chosen(settings.integrations)),
    ),
  ].filter(({ policyIds, webhook, tracker }) => policyIds.length > 0 && (webhook !== null || tracker !== null));
}

const automation = (
  place: Place,
  hook: FailingPoliciesWebhook | undefined,
  tracker: Tracker | null | undefined,
): PolicyAutomation => ({
  ...place,
  policyIds: hook?.policy_ids ?? [],
  webhook: hook?.enable_failing_policies_webhook
    ? { url: hook.destination_url, batchSize: hook.host_batch_size }
    : null,
  tracker: tracker ?? null,
});

/** The ids of policies with an automation that is on. */
export async function automatedPolicies(
  services: Pick<Services, "config"> & { store: ServerTx },
): Promise<ReadonlySet<number>> {
  return new Set((await policyAutomations(services)).flatMap(({ policyIds }) => policyIds));
}

/** Hosts that newly fail a policy. What waits to be told already is not told twice. */
export async function recordFailing(
  store: ServerTx,
  pairs: readonly { readonly policy_id: number; readonly host_id: number }[],
  at: string,
): Promise<void> {
  if (pairs.length === 0) return;
  await store.policyEvents.upsert(
    pairs.map((pair) => ({ ...pair, at })),
    { on: ["policy_id", "host_id"], set: [], returning: [] },
  );
}

/** Hosts in one write of a reset. */
const BATCH = 1000;

/** All hosts that fail the policy count as newly failing. */
export async function resetPolicy(store: ServerTx, policy: PolicyRow, at: string): Promise<void> {
  const untold = and(
    has("failing", policy.result_id),
    not(exists(policyEvents, "host_id", eq("policy_id", policy.id))),
  );
  for (;;) {
    const hosts = await store.hostPolicies.pick(["id"], { where: untold, limit: BATCH });
    await recordFailing(
      store,
      hosts.map(({ id }) => ({ policy_id: policy.id, host_id: id })),
      at,
    );
    if (hosts.length < BATCH) return;
  }
}

/** Policies that went are not named in the configuration any more. */
export const forgetInConfig = (ctx: Context, policyIds: readonly number[]): Promise<void> =>
  ctx.store.tx((store) => setReported(within(ctx, store), [{ place: placeOf(null), on: [], off: policyIds }]), {
    lock: "config",
  });

export interface Reported {
  readonly place: Place;
  readonly on: readonly number[];
  readonly off: readonly number[];
}

/**
 * Which policies the failing-policies webhooks and tickets of these places tell of, from now on. In the caller's transaction, which
 * holds the locks "config" and, for teams, "enroll_secrets".
 */
export async function setReported(inside: Context, changes: readonly Reported[]): Promise<void> {
  const { store } = inside;
  const now = inside.clock.iso();
  const ofTeams = new Map<number, Reported>();
  for (const change of changes) {
    if (change.place.scope === "team") ofTeams.set(change.place.team_id!, change);
    else if (change.place.scope === "no_team") {
      const settings = await noTeamSettings(store);
      const webhook_settings = told(settings.webhook_settings, change);
      if (webhook_settings) await writeNoTeam(inside, { ...settings, webhook_settings });
    } else {
      const value = told(await readSection(store, sections.webhook_settings), change);
      if (!value) continue;
      await writeSection(store, sections.webhook_settings, value, now);
      await store.notify(channels.config, "webhook_settings");
    }
  }
  if (ofTeams.size === 0) return;
  const rows = await store.teams.pick(["id", "settings"], { where: oneOf("id", [...ofTeams.keys()]) });
  const changed = rows.flatMap(({ id, settings }) => {
    const webhook_settings = told(settings.webhook_settings ?? noWebhooks, ofTeams.get(id)!);
    return webhook_settings ? [{ id, settings: { ...settings, webhook_settings }, updated_at: now }] : [];
  });
  await store.teams.updateEach(changed);
  if (changed.length > 0) await store.notify(channels.teams, "*");
}

/** The webhooks with other policies in them; null where they are the same. */
function told<T extends { failing_policies_webhook: FailingPoliciesWebhook }>(
  hooks: T,
  { on, off }: Reported,
): T | null {
  const before = hooks.failing_policies_webhook.policy_ids;
  const gone = new Set(off);
  const policy_ids = [...new Set([...before.filter((id) => !gone.has(id)), ...on])];
  if (isDeepStrictEqual(policy_ids, before)) return null;
  return { ...hooks, failing_policies_webhook: { ...hooks.failing_policies_webhook, policy_ids } };
}

/** Events that nobody fetched: those of so many hosts are kept, the newest. */
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
