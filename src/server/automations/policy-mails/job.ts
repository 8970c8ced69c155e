// Queues mails about hosts that newly fail policies: one for each recipient and period, with everything that has happened
// since the last one. The events are used up in the same transaction, so a server that is killed loses none, and of
// several servers one sends them.

import { type PolicyRow, teamIdOf } from "../../checks/policies/applies.ts";
import {
  deleteEvents,
  endMailed,
  type PolicyAutomation,
  policyAutomations,
  stillFailing,
} from "../../checks/policies/automations.ts";
import { hours, isoAt, minutes } from "../../platform/core/clock.ts";
import type { Services } from "../../platform/core/context.ts";
import type { Job } from "../../platform/core/job.ts";
import { groupBy } from "../../platform/core/maps.ts";
import type { ServerTx, Tables } from "../../platform/core/tables.ts";
import { mailConfigured } from "../../platform/mail/mail.ts";
import { subscribed } from "../../platform/mail/opt-outs.ts";
import { enqueueMany } from "../../platform/outbox/service.ts";
import { and, eq, not, oneOf } from "../../platform/store/query.ts";
import type { RowOf } from "../../platform/store/table.ts";
import { renderedHosts } from "../webhooks/hosts.ts";
import { type Digest, type FailingPolicy, HOSTS_MAX, POLICIES_MAX } from "./digest.ts";
import { teamNameOf } from "./team-name.ts";

const periods = { immediately: 0, hourly: hours(1), daily: hours(24) } as const;
/** Events that one transaction uses up. */
const EVENTS_MAX = 20_000;

export const policyMails: Job = {
  name: "policy_mails",
  every: minutes(1),
  async run(services, signal) {
    const automations = await policyAutomations(services);
    const mailed = automations.filter(({ mail }) => mail !== null);
    // Mails were turned off: nothing waits for them any more.
    const ids = mailed.flatMap(({ policyIds }) => policyIds);
    await services.store.tx(async (tx) => {
      const unused = await tx.policyEvents.pick(["id"], {
        where: and(eq("is_reported", true), not(oneOf("policy_id", ids))),
        limit: EVENTS_MAX,
      });
      await deleteEvents(
        tx,
        unused.map(({ id }) => id),
      );
    });
    // Events wait until mail works again.
    if (!(await mailConfigured(services))) return;
    for (const automation of mailed) {
      if (signal.aborted) return;
      await services.store.tx((tx) => mailFailing(services, tx, automation), { lock: "policy_mails" });
    }
  },
};

async function mailFailing(services: Services, tx: ServerTx, automation: PolicyAutomation): Promise<void> {
  const now = services.clock.now();
  const { recipients, digest } = automation.mail!;
  const sentAt = await lastSent(tx, automation);
  if (sentAt !== null && Date.parse(sentAt) + periods[digest] > now) return;
  const policies = await policiesOf(tx, automation);
  const events = await tx.policyEvents.list({
    where: and(
      eq("is_mailed", false),
      oneOf(
        "policy_id",
        policies.map(({ id }) => id),
      ),
    ),
    order: [{ column: "id", direction: "asc" }],
    limit: EVENTS_MAX,
  });
  if (events.length === 0) return;
  const failing = await failingPolicies(tx, policies, events);
  await endMailed(
    tx,
    events.map(({ id }) => id),
    (automation.webhook ?? automation.tracker) !== null,
  );
  const addresses = await subscribed(tx, teamIdOf(automation), recipients);
  if (failing.length === 0 || addresses.length === 0) return;
  await queueMails(services, tx, { automation, addresses, failing });
  await tx.policyMailStates.upsert([{ ...placeOf(automation), sent_at: isoAt(now) }], {
    on: ["is_of_team", "team_id"],
    set: ["sent_at"],
    returning: [],
  });
}

/** The columns by which the time of the last mail is stored. */
const placeOf = ({ scope, team_id }: PolicyAutomation) => ({ is_of_team: scope !== "global", team_id });

async function lastSent(tx: ServerTx, automation: PolicyAutomation): Promise<string | null> {
  const { is_of_team, team_id } = placeOf(automation);
  const state = await tx.policyMailStates.first({ where: and(eq("is_of_team", is_of_team), eq("team_id", team_id)) });
  return state?.sent_at ?? null;
}

const policiesOf = (tx: ServerTx, { policyIds, scope, team_id }: PolicyAutomation): Promise<PolicyRow[]> =>
  tx.policies.list({
    where: and(oneOf("id", policyIds), eq("scope", scope), eq("team_id", team_id)),
    order: [{ column: "name", direction: "asc" }],
  });

/** The policies that hosts of the events still fail. */
async function failingPolicies(
  tx: ServerTx,
  policies: readonly PolicyRow[],
  events: readonly Pick<RowOf<Tables["policyEvents"]>, "policy_id" | "host_id">[],
): Promise<FailingPolicy[]> {
  const failing: FailingPolicy[] = [];
  const eventsOf = groupBy(events, ({ policy_id }) => policy_id);
  for (const policy of policies) {
    const hostIds = (eventsOf.get(policy.id) ?? []).map(({ host_id }) => host_id);
    const ids = (await stillFailing(tx, policy, hostIds)).sort((a, b) => a - b);
    if (ids.length === 0) continue;
    const hosts = await renderedHosts(tx, ids.slice(0, HOSTS_MAX), "");
    const names = hosts.map(({ display_name }) => display_name);
    failing.push({ id: policy.id, name: policy.name, hosts: names, hosts_count: ids.length });
  }
  return failing;
}

interface Mails {
  readonly automation: PolicyAutomation;
  readonly addresses: readonly string[];
  readonly failing: readonly FailingPolicy[];
}

async function queueMails(services: Services, tx: ServerTx, { automation, addresses, failing }: Mails): Promise<void> {
  const teamId = teamIdOf(automation);
  const digest: Omit<Digest, "to"> = {
    policies: failing.slice(0, POLICIES_MAX),
    policies_count: failing.length,
    team_id: teamId,
    team_name: await teamNameOf(tx, teamId),
  };
  await enqueueMany(
    tx,
    services,
    addresses.map((to) => {
      const destination = `mailto:${to.toLowerCase()}`;
      return {
        kind: "mail",
        event: "failing_policies",
        destination,
        url: destination,
        payload: { to, ...digest },
        team_id: automation.team_id,
      };
    }),
  );
}
