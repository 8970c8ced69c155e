// Sends policies that have changed. Each host's row is leased, so that an earlier content never follows a later one.
import { setImmediate } from "node:timers/promises";
import { channels } from "../../../core/channels.ts";
import { isoAt, minutes, seconds } from "../../../core/clock.ts";
import { heldBy, isFree, newLease, noLease, whileHeld } from "../../../core/concurrency/lease.ts";
import { startTriggeredTask } from "../../../core/concurrency/triggered-task.ts";
import { type Services, serviceContext } from "../../../core/context.ts";
import type { Job } from "../../../core/job.ts";
import { startedPart } from "../../../core/running.ts";
import { and, eq, isNull, lte, or, type Predicate } from "../../../store/query.ts";
import type { RowOf } from "../../../store/table.ts";
import { applyEvents } from "../../profiles/host-rows.ts";
import { accountOf } from "../management/account.ts";
import { type AndroidClient, androidClient } from "../management/client.ts";
import { AndroidError } from "../management/problem.ts";
import { policyOfHost } from "./of-host.ts";
import { policyNameOf } from "./reported.ts";
import type { androidPolicies } from "./tables.ts";

type PolicyRow = RowOf<typeof androidPolicies>;

const STEP = 50;
const FIRST_RETRY = seconds(10);
const LAST_RETRY = minutes(30);

const isDue = ({ clock }: Pick<Services, "clock">): Predicate =>
  and(eq("due", true), or(isNull("retry_at"), lte("retry_at", clock.iso())), isFree({ clock }));

/** Sends everything that is due. */
export async function sendPolicies(services: Services, signal: AbortSignal): Promise<void> {
  const { store } = services;
  if (accountOf(services) === null) return;
  for (;;) {
    const rows = await store.androidPolicies.list({ where: isDue(services), limit: STEP });
    for (const row of rows) {
      if (signal.aborted) return;
      await sendOne(services, row, signal);
      await setImmediate();
    }
    if (rows.length === 0) return;
  }
}

async function sendOne(services: Services, { id }: PolicyRow, stop: AbortSignal): Promise<void> {
  const { store } = services;
  const lease = newLease(services);
  // Another server may have been faster.
  if ((await store.androidPolicies.update({ where: and(eq("id", id), isDue(services)), set: lease })) === 0) return;
  const own = and(eq("id", id), heldBy(lease));
  const renew = (values: Pick<typeof lease, "runner_until">) =>
    store.androidPolicies.update({ where: own, set: values });
  try {
    await whileHeld(services, renew, stop, () => send(services, id, own));
  } finally {
    await store.androidPolicies.update({ where: own, set: noLease });
  }
}

async function send(services: Services, hostId: number, own: Predicate): Promise<void> {
  const { store } = services;
  const device = await store.androidDevices.first({ where: eq("host_id", hostId) });
  const row = await store.androidPolicies.first({ where: own });
  if (!row) return;
  if (!device) return void (await store.androidPolicies.update({ where: own, set: { due: false } }));
  const { policy } = await policyOfHost(store, hostId);
  try {
    const version = await deliver(androidClient(services), { device: device.name, policy, isFirst: row.version === 0 });
    await store.androidPolicies.update({ where: own, set: { version, failures: 0, retry_at: null } });
    // What was asked for in the meantime is sent next.
    await store.androidPolicies.update({ where: and(own, eq("wanted", row.wanted)), set: { due: false } });
  } catch (error) {
    if (!(error instanceof AndroidError)) throw error;
    if (error.problem === "refused" && (await dropRefused(services, hostId, error.message))) return;
    await later(services, row, own, error);
  }
}

interface Sent {
  readonly device: string;
  readonly policy: Readonly<Record<string, unknown>>;
  readonly isFirst: boolean;
}

async function deliver(client: AndroidClient, { device, policy, isFirst }: Sent): Promise<number> {
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

async function later(services: Services, row: PolicyRow, own: Predicate, error: AndroidError): Promise<void> {
  const { store, clock, log } = services;
  const wait = Math.max(error.retryAfter ?? 0, Math.min(LAST_RETRY, FIRST_RETRY * 2 ** Math.min(row.failures, 20)));
  log.warn(
    { host_id: row.id, reason: error.message },
    "the policy of an Android device could not be sent; trying again",
  );
  const set = { retry_at: isoAt(clock.now() + wait), failures: row.failures + 1 };
  await store.androidPolicies.update({ where: own, set });
}

export const androidPolicySender = startedPart("policies of Android devices", async (services) => {
  const stopping = new AbortController();
  const task = await startTriggeredTask(
    services,
    { channel: channels.androidPolicies, least: 50, more: 200, failure: "policies could not be sent; trying again" },
    () => sendPolicies(services, stopping.signal),
  );
  return {
    ...task,
    async stop() {
      stopping.abort();
      await task.stop();
    },
  };
});

/** Sends again what has failed. */
export const androidPolicyJob: Job = {
  name: "android_policies",
  every: minutes(1),
  run: (services, signal) => sendPolicies(services, signal),
};
