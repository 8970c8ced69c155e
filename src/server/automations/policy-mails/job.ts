// Queues mails about hosts that newly fail policies: one for each recipient and period, with everything that has happened
// since the last one. The events are used up in the same transaction, so a server that is killed loses none, and of
// several servers one sends them.

import { teamIdOf } from "../../checks/policies/applies.ts";
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
import type { ServerTx } from "../../platform/core/tables.ts";
import { mailConfigured } from "../../platform/mail/mail.ts";
import { subscribed } from "../../platform/mail/opt-outs.ts";
import { enqueueMany } from "../../platform/outbox/service.ts";
import { and, eq, not, oneOf } from "../../platform/store/query.ts";
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
      const left = await tx.policyEvents.pick(["id"], {
        where: and(eq("is_reported", true), not(oneOf("policy_id", ids))),
        limit: EVENTS_MAX,
      });
      await deleteEvents(
        tx,
        left.map(({ id }) => id),
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
  const { scope, team_id, mail, policyIds } = automation;
  const now = services.clock.now();
  const place = { is_of_team: scope !== "global", team_id };
  const state = await tx.policyMailStates.first({
    where: and(eq("is_of_team", place.is_of_team), eq("team_id", team_id)),
  });
  const { recipients, digest } = mail!;
  if (state !== null && Date.parse(state.sent_at) + periods[digest] > now) return;
  const policies = await tx.policies.list({
    where: and(oneOf("id", policyIds), eq("scope", scope), eq("team_id", team_id)),
    order: [{ column: "name", direction: "asc" }],
  });
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
  await endMailed(
    tx,
    events.map(({ id }) => id),
    (automation.webhook ?? automation.tracker) !== null,
  );
  const teamId = teamIdOf(automation);
  const addresses = await subscribed(tx, teamId, recipients);
  if (failing.length === 0 || addresses.length === 0) return;
  const team_name = await teamNameOf(tx, teamId);
  const about = {
    policies: failing.slice(0, POLICIES_MAX),
    policies_count: failing.length,
    team_id: teamId,
    team_name,
  };
  await enqueueMany(
    tx,
    services,
    addresses.map((to) => {
      const payload: Digest = { to, ...about };
      const destination = `mailto:${to.toLowerCase()}`;
      return {
        kind: "mail",
        event: "failing_policies",
        destination,
        url: destination,
        payload: { ...payload },
        team_id,
      };
    }),
  );
  await tx.policyMailStates.upsert([{ ...place, sent_at: isoAt(now) }], {
    on: ["is_of_team", "team_id"],
    set: ["sent_at"],
    returning: [],
  });
}
