// Queues webhooks and tickets for hosts that newly fail policies, and deletes their events in the same transaction.

import type { PolicyRow } from "../../checks/policies/applies.ts";
import {
  endReported,
  type PolicyAutomation,
  policyAutomations,
  stillFailing,
} from "../../checks/policies/automations.ts";
import { policyOnWire } from "../../checks/policies/wire.ts";
import { type Services, serviceContext, within } from "../../platform/core/context.ts";
import { serverUrl } from "../../platform/core/http/links.ts";
import { checkDestination } from "../../platform/core/outbound/fetch.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { enqueueMany, type Outgoing } from "../../platform/outbox/service.ts";
import { and, eq } from "../../platform/store/query.ts";
import { destinationOfTracker } from "../../settings/tickets/destination.ts";
import { policyTicket } from "../../settings/tickets/texts.ts";
import { type RenderedHost, renderedHosts } from "./hosts.ts";

const byId = [{ column: "id", direction: "asc" }] as const;
/** Hosts per transaction, independent of the batch size of requests. */
const BATCH_SIZE = 5_000;

export async function reportFailingPolicies(services: Services, signal: AbortSignal): Promise<void> {
  const automations = await policyAutomations(services);
  const url = await serverUrl(services);
  const waiting = await services.store.policyEvents.groupCount("policy_id", eq("is_reported", false));
  for (const { value: policyId } of waiting) {
    if (signal.aborted) return;
    await reportPolicy(services, Number(policyId), automations, url);
  }
}

/** One transaction per policy, so that a request without a batch limit contains all hosts, and each only once. */
async function reportPolicy(
  services: Services,
  policyId: number,
  automations: readonly PolicyAutomation[],
  url: string,
): Promise<void> {
  await services.store.tx(async (tx) => {
    const policy = await tx.policies.get(policyId);
    const events = await tx.policyEvents.list({
      where: and(eq("policy_id", policyId), eq("is_reported", false)),
      order: byId,
    });
    if (events.length === 0) return;
    // A team's settings apply to its own policies only, even if they list other ids.
    const automation = automations.find(
      ({ scope, team_id, policyIds }) =>
        policy?.scope === scope && policy.team_id === team_id && policyIds.includes(policyId),
    );
    if (policy && automation) {
      if (automation.webhook && checkDestination(automation.webhook.url) !== null) return;
      const hosts = await renderedHosts(
        tx,
        await stillFailing(
          tx,
          policy,
          events.map(({ host_id }) => host_id),
        ),
        url,
      );
      await enqueueMany(tx, services, await outgoing(services, tx, { policy, automation, hosts }));
    }
    for (let at = 0; at < events.length; at += BATCH_SIZE)
      await endReported(
        tx,
        events.slice(at, at + BATCH_SIZE).map(({ id }) => id),
        automation?.mail != null,
      );
  });
}

interface Failing {
  readonly policy: PolicyRow;
  readonly automation: PolicyAutomation;
  readonly hosts: readonly RenderedHost[];
}

async function outgoing(
  services: Services,
  tx: ServerTx,
  { policy, automation: { webhook, tracker }, hosts }: Failing,
): Promise<Outgoing[]> {
  if (hosts.length === 0) return [];
  const about = { event: "failing_policies", policy_id: policy.id, team_id: policy.team_id } as const;
  if (webhook) {
    const { url, batchSize } = webhook;
    const rendered = await policyOnWire(within(serviceContext(services), tx), policy);
    const timestamp = services.clock.iso();
    return batches(hosts, batchSize).map((batch) => ({
      ...about,
      kind: "webhook",
      destination: url,
      url,
      payload: { timestamp, policy: rendered, hosts: batch },
      host_ids: batch.map(({ id }) => id),
    }));
  }
  if (!tracker) return [];
  const team = policy.team_id === null ? null : await tx.teams.get(policy.team_id);
  const payload = { ...policyTicket(policy, hosts, team?.name ?? null) };
  const host_ids = hosts.map(({ id }) => id);
  const destination = destinationOfTracker(tracker);
  return [{ ...about, kind: "ticket", destination, url: tracker.entry.url, payload, host_ids }];
}

/** `size` 0: a single batch. */
export function batches<T>(all: readonly T[], size: number): (readonly T[])[] {
  if (size <= 0 || all.length <= size) return [all];
  return Array.from({ length: Math.ceil(all.length / size) }, (_, i) => all.slice(i * size, (i + 1) * size));
}
