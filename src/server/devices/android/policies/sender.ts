// Sends policies that have changed. Each host's row is leased, so that an earlier content never follows a later one.
import { renewalsOf, templatesSent } from "../../../certificates/certificates/delivery.ts";
import { channels } from "../../../platform/core/channels.ts";
import { minutes } from "../../../platform/core/clock.ts";
import { type Services, serviceContext } from "../../../platform/core/context.ts";
import type { Job } from "../../../platform/core/job.ts";
import { and, eq, type Predicate } from "../../../platform/store/query.ts";
import { applyEvents } from "../../profiles/host-rows.ts";
import { type AndroidClient, androidClient } from "../management/client.ts";
import { AndroidError } from "../management/problem.ts";
import { type Sending, sendDue, senderOf, sentAll } from "../sending.ts";
import { agentOfTeam, withAgentApp } from "./agent-app.ts";
import { policyOfHost } from "./of-host.ts";
import { policyNameOf } from "./reported.ts";
import { withStoreApps } from "./store-apps.ts";

const policySending: Sending = {
  what: "the policy",
  channel: channels.androidPolicies,
  rows: (store) => store.androidPolicies,
  write: (store, change) => store.androidPolicies.update(change),
  send,
};

async function send(services: Services, hostId: number, claimed: Predicate): Promise<void> {
  const { store } = services;
  const device = await store.androidDevices.first({ where: eq("host_id", hostId) });
  const row = await store.androidPolicies.first({ where: claimed });
  if (!row) return;
  if (!device) return void (await store.androidPolicies.update({ where: claimed, set: { due: false } }));
  const [host] = await store.hosts.pick(["id", "team_id", "uuid", "label_updated_at"], { where: eq("id", hostId) });
  if (!host) return;
  const agent = await agentOfTeam(services, host.team_id);
  const { policy: ofProfiles } = await policyOfHost(store, hostId);
  const withApps = await withStoreApps(store, ofProfiles, agent.apps, host);
  const ofHost = { uuid: host.uuid, renewals: await renewalsOf(store, hostId) };
  const policy = withAgentApp(withApps, services.settings.android_agent_package, agent, ofHost);
  try {
    const version = await deliver(androidClient(services), { device: device.name, policy, isFirst: row.version === 0 });
    await templatesSent(services, hostId, agent.templateIds);
    const set = { version, agent: agent.digest, failures: 0, retry_at: null };
    await store.androidPolicies.update({ where: claimed, set });
    await store.androidPolicies.update({ where: and(claimed, eq("wanted", row.wanted)), set: sentAll });
  } catch (error) {
    const isRefused = error instanceof AndroidError && error.problem === "refused";
    if (isRefused && (await dropRefused(services, hostId, error.message))) return;
    throw error;
  }
}

interface SentPolicy {
  readonly device: string;
  readonly policy: Readonly<Record<string, unknown>>;
  readonly isFirst: boolean;
}

async function deliver(client: AndroidClient, { device, policy, isFirst }: SentPolicy): Promise<number> {
  const name = policyNameOf(device);
  const version = await client.setPolicy(name, policy);
  if (isFirst) await client.setPolicyOfDevice(device, name);
  return version;
}

/**
 * The service does not accept the policy, and names the setting: the profiles that contain it fail, and the rest is
 * sent. False if there is no profile that could be left out.
 */
async function dropRefused(services: Services, hostId: number, reason: string): Promise<boolean> {
  const { store } = services;
  return store.tx(async (tx) => {
    const { rows, settings } = await policyOfHost(tx, hostId);
    if (rows.length === 0) return false;
    const isNamed = (setting: string) => new RegExp(`\\b${setting}\\b`).test(reason);
    const guilty = rows.filter(({ id }) => (settings.get(id) ?? []).some(isNamed));
    await applyEvents(
      { ...serviceContext(services), store: tx },
      (guilty.length > 0 ? guilty : rows).map((row) => ({ row, event: { type: "unsendable", detail: reason } })),
    );
    return true;
  });
}

export const androidPolicySender = senderOf("policies of Android devices", policySending);

/** Sends again what has failed. */
export const androidPolicyJob: Job = {
  name: "android_policies",
  every: minutes(1),
  run: (services, signal) => sendDue(services, policySending, signal),
};
